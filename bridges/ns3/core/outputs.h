// Files that users of ns-3 know: pcap, ASCII traces, FlowMonitor's XML; NetAnim's is in animation.cpp.
#pragma once

#include "config.h"
#include "radios.h"

#include "ns3/flow-monitor-helper.h"
#include "ns3/trace-helper.h"

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
    }

    void End()
    {
        if (m_flows)
        {
            m_flows->GetMonitor()->CheckForLostPackets();
            m_flows->SerializeToXmlFile(m_config.flowMonitor, true, true);
        }
    }

  private:
    Config m_config;
    std::unique_ptr<ns3::FlowMonitorHelper> m_flows;
};

} // namespace robonet
