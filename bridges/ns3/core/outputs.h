// Files that users of ns-3 know: pcap, ASCII traces, FlowMonitor's XML, NetAnim's XML.
#pragma once

#include "config.h"
#include "radios.h"

#include "ns3/flow-monitor-helper.h"
#include "ns3/trace-helper.h"
#ifdef ROBONET_WITH_NETANIM
#include "ns3/animation-interface.h"
#endif

#include <memory>

namespace robonet
{

class Outputs
{
  public:
    void Begin(const Config& config, Radios& radios)
    {
        m_config = config;
        radios.phy.SetPcapDataLinkType(config.hasRadiotap ? ns3::WifiPhyHelper::DLT_IEEE802_11_RADIO
                                                          : ns3::WifiPhyHelper::DLT_IEEE802_11);
        for (const auto& [node, file] : config.captures)
        {
            radios.phy.EnablePcap(file, radios.devices.Get(node), true, true);
        }
        if (!config.ascii.empty())
        {
            radios.phy.EnableAscii(ns3::AsciiTraceHelper().CreateFileStream(config.ascii), radios.devices);
        }
        if (!config.flowMonitor.empty())
        {
            m_flows = std::make_unique<ns3::FlowMonitorHelper>();
            m_flows->Install(radios.nodes);
        }
#ifdef ROBONET_WITH_NETANIM
        if (!config.animation.empty())
        {
            m_animation = std::make_unique<ns3::AnimationInterface>(config.animation);
        }
#endif
    }

    void End()
    {
        if (m_flows)
        {
            m_flows->GetMonitor()->CheckForLostPackets();
            m_flows->SerializeToXmlFile(m_config.flowMonitor, true, true);
        }
#ifdef ROBONET_WITH_NETANIM
        m_animation.reset();
#endif
    }

  private:
    Config m_config;
    std::unique_ptr<ns3::FlowMonitorHelper> m_flows;
#ifdef ROBONET_WITH_NETANIM
    std::unique_ptr<ns3::AnimationInterface> m_animation;
#endif
};

} // namespace robonet
