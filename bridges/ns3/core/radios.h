// Nodes with 802.11 radios in ad hoc mode, IPv4 and routing above them: ns-3's own models, put together.
#pragma once

#include "config.h"
#include "true_paths.h"

#include "ns3/aodv-helper.h"
#include "ns3/arp-cache.h"
#include "ns3/boolean.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"
#include "ns3/dsdv-helper.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-interface.h"
#include "ns3/mobility-helper.h"
#include "ns3/object-factory.h"
#include "ns3/olsr-helper.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/yans-wifi-channel.h"
#include "ns3/yans-wifi-helper.h"

namespace robonet
{

struct Radios
{
    ns3::NodeContainer nodes;
    ns3::NetDeviceContainer devices;
    ns3::Ipv4InterfaceContainer interfaces;
    std::vector<ns3::Ptr<ns3::ConstantPositionMobilityModel>> places;
    ns3::YansWifiPhyHelper phy;
    TrueGraph graph;

    ns3::Ptr<ns3::WifiNetDevice> Device(uint32_t node) const
    {
        return ns3::DynamicCast<ns3::WifiNetDevice>(devices.Get(node));
    }

    ns3::Ptr<ns3::ArpCache> ArpCacheOf(uint32_t node) const
    {
        const auto [stack, interface] = interfaces.Get(node);
        return ns3::DynamicCast<ns3::Ipv4L3Protocol>(stack)->GetInterface(interface)->GetArpCache();
    }
};

inline ns3::Ptr<ns3::PropagationLossModel>
MakeLosses(const Config& config)
{
    ns3::Ptr<ns3::PropagationLossModel> first;
    ns3::Ptr<ns3::PropagationLossModel> last;
    for (const auto& name : config.losses)
    {
        auto loss = ns3::ObjectFactory(name).Create<ns3::PropagationLossModel>();
        if (last)
        {
            last->SetNext(loss);
        }
        else
        {
            first = loss;
        }
        last = loss;
    }
    return first;
}

// By hand: AODV does not recognize the entries NeighborCacheHelper makes, and would ignore the MAC's failures.
inline void
FillArpCaches(const Radios& radios)
{
    const uint32_t count = radios.nodes.GetN();
    for (uint32_t i = 0; i < count; ++i)
    {
        auto cache = radios.ArpCacheOf(i);
        for (uint32_t j = 0; j < count; ++j)
        {
            if (i != j)
            {
                auto entry = cache->Add(radios.interfaces.GetAddress(j));
                entry->SetMacAddress(radios.devices.Get(j)->GetAddress());
                entry->MarkPermanent();
            }
        }
    }
}

// Answers the number of the next free random stream.
inline int64_t
BuildInternet(const Config& config, Radios& radios, int64_t stream)
{
    ns3::InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    ns3::AodvHelper aodv;
    ns3::OlsrHelper olsr;
    ns3::DsdvHelper dsdv;
    TruePathsHelper truePaths(radios.graph);
    if (config.routing == "aodv")
        internet.SetRoutingHelper(aodv);
    else if (config.routing == "olsr")
        internet.SetRoutingHelper(olsr);
    else if (config.routing == "dsdv")
        internet.SetRoutingHelper(dsdv);
    else if (config.routing == "static")
        internet.SetRoutingHelper(truePaths);
    internet.Install(radios.nodes);
    ns3::Ipv4AddressHelper addresses("10.0.0.0", "255.0.0.0");
    radios.interfaces = addresses.Assign(radios.devices);
    // One queue, that of the MAC, whose length and lifetime the settings give; FqCoDel on top would have its own.
    ns3::TrafficControlHelper().Uninstall(radios.devices);
    if (!config.usesArp)
    {
        FillArpCaches(radios);
    }
    stream += internet.AssignStreams(radios.nodes, stream);
    if (config.routing == "aodv")
        stream += aodv.AssignStreams(radios.nodes, stream);
    else if (config.routing == "olsr")
        stream += olsr.AssignStreams(radios.nodes, stream);
    return stream;
}

// Defaults are set before. Answers the number of the next free random stream.
inline int64_t
BuildRadios(const Config& config, Radios& radios)
{
    ns3::RngSeedManager::SetSeed(config.seed);
    ns3::RngSeedManager::SetRun(config.run);
    radios.nodes.Create(config.nodes);
    ns3::MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(radios.nodes);
    std::vector<ns3::Ptr<ns3::MobilityModel>> places;
    for (uint32_t i = 0; i < config.nodes; ++i)
    {
        radios.places.push_back(radios.nodes.Get(i)->GetObject<ns3::ConstantPositionMobilityModel>());
        places.push_back(radios.places.back());
    }

    auto channel = ns3::CreateObject<ns3::YansWifiChannel>();
    channel->SetPropagationDelayModel(
        ns3::ObjectFactory("ns3::ConstantSpeedPropagationDelayModel").Create<ns3::PropagationDelayModel>());
    channel->SetPropagationLossModel(MakeLosses(config));
    Config meanOnly = config;
    meanOnly.losses.resize(1);
    radios.graph.Set(MakeLosses(meanOnly), places, config.txPowersDbm, config.leastDbm);

    radios.phy.SetChannel(channel);
    if (!config.channel.empty())
    {
        radios.phy.Set("ChannelSettings", ns3::StringValue(config.channel));
    }
    radios.phy.SetErrorRateModel(config.errorRates);
    if (config.hasCapture)
    {
        radios.phy.SetFrameCaptureModel("ns3::SimpleFrameCaptureModel");
    }
    ns3::WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", ns3::BooleanValue(false));
    ns3::WifiHelper wifi;
    wifi.SetStandard(config.standard == "802.11b"   ? ns3::WIFI_STANDARD_80211b
                     : config.standard == "802.11g" ? ns3::WIFI_STANDARD_80211g
                                                    : ns3::WIFI_STANDARD_80211a);
    wifi.SetRemoteStationManager(config.rateManager);
    radios.devices = wifi.Install(radios.phy, mac, radios.nodes);
    for (uint32_t i = 0; i < config.nodes; ++i)
    {
        if (config.txPowersDbm[i] != config.txPowersDbm[0]) // that of the first is the default
        {
            radios.Device(i)->GetPhy()->SetTxPowerStart(config.txPowersDbm[i]);
            radios.Device(i)->GetPhy()->SetTxPowerEnd(config.txPowersDbm[i]);
        }
    }

    // Streams by hand: otherwise each depends on how many objects were made before it, in any part of ns-3.
    int64_t stream = 1;
    stream += channel->AssignStreams(stream);
    return stream + ns3::WifiHelper::AssignStreams(radios.devices, stream);
}

} // namespace robonet
