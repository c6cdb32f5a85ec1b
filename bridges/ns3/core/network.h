// The network: radios, a UDP socket a node, and everything that traces tell of the datagrams under way.
#pragma once

#include "air.h"
#include "attributes.h"
#include "fates.h"
#include "outputs.h"
#include "radios.h"

#include "ns3/arp-l3-protocol.h"
#include "ns3/global-value.h"
#include "ns3/random-variable-stream.h"
#include "ns3/socket.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/wifi-mac-queue.h"
#include "ns3/wifi-mpdu.h"

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace robonet
{

class Network
{
  public:
    static constexpr uint16_t PORT = 49152;
    static constexpr uint16_t FLOODING_PORT = 49153;
    static constexpr uint32_t LARGEST_PAYLOAD = 2304 - 8 - 20 - 8; // one frame, less LLC, IPv4 and UDP

    explicit Network(const Config& config)
        : m_config(config),
          m_air(config.standard == "802.11a"),
          m_floods(config.routing == "flooding")
    {
        int64_t stream = BuildRadios(m_config, m_radios);
        for (uint32_t i = 0; i < config.nodes; ++i)
        {
            m_hosts.push_back(std::make_unique<Host>(*this, i));
        }
        stream = BuildInternet(m_config, m_radios, stream);
        m_jitter = ns3::CreateObject<ns3::UniformRandomVariable>();
        m_jitter->SetStream(stream);
        if (m_floods)
        {
            m_fates.WaitForFramesOnAir();
        }
        for (auto& host : m_hosts)
        {
            host->Open();
        }
    }

    // After attributes by path, so that files are written by the objects as they are in the end.
    void BeginOutputs()
    {
        m_outputs.Begin(m_config, m_radios);
    }

    uint32_t Nodes() const
    {
        return m_config.nodes;
    }

    void MoveTo(const double* xyz)
    {
        for (auto& place : m_radios.places)
        {
            place->SetPosition(ns3::Vector(xyz[0], xyz[1], xyz[2]));
            xyz += 3;
        }
        m_radios.graph.Moved();
    }

    // The bytes of the packet must be there until it is sent; none: zeros.
    void Schedule(const Transmission& sent, const uint8_t* payload)
    {
        const auto delay = ns3::NanoSeconds(sent.time) - ns3::Simulator::Now();
        const auto context = m_radios.nodes.Get(sent.source)->GetId();
        ns3::Simulator::ScheduleWithContext(context, delay, &Network::Send, this, sent, payload);
    }

    const std::vector<Event>& TakeEvents(int64_t now)
    {
        return m_fates.Take(now);
    }

    const std::vector<uint32_t>& QueueLengths()
    {
        m_queues.clear();
        for (uint32_t i = 0; i < m_config.nodes; ++i)
        {
            m_queues.push_back(m_radios.Device(i)->GetMac()->GetTxopQueue(ns3::AC_BE_NQOS)->GetNPackets());
        }
        return m_queues;
    }

    std::string End()
    {
        m_outputs.End();
        return m_air.Report(ns3::Simulator::GetEventCount());
    }

  private:
    // One node's socket and traces.
    class Host
    {
      public:
        // Before IPv4 is there: frames pass through here first.
        Host(Network& network, uint32_t node)
            : m_network(network),
              m_node(node)
        {
            auto device = network.m_radios.Device(node);
            m_manager = device->GetRemoteStationManager();
            auto handler = ns3::MakeCallback(&Host::HandleFrame, this);
            network.m_radios.nodes.Get(node)->RegisterProtocolHandler(handler,
                                                                      ns3::Ipv4L3Protocol::PROT_NUMBER,
                                                                      device);
        }

        void Open()
        {
            auto& network = m_network;
            m_socket = Listen(PORT, ns3::MakeCallback(&Host::HandleArrival, this));
            if (network.m_floods)
            {
                m_flood = Listen(FLOODING_PORT, ns3::MakeCallback(&Host::HandleFlood, this));
            }
            ConnectTraces();
        }

        void SendTo(const Mark& mark, const uint8_t* payload)
        {
            auto packet = Packet(mark, payload);
            const auto to = mark.receiver == BROADCAST ? ns3::Ipv4Address::GetBroadcast() : AddressOf(mark.receiver);
            ns3::SocketIpTtlTag ttl;
            ttl.SetTtl(mark.receiver == BROADCAST ? 1 : uint8_t(m_network.m_config.maxHops));
            packet->AddPacketTag(ttl);
            if (m_socket->SendTo(packet, 0, ns3::InetSocketAddress(to, PORT)) < 0)
            {
                const bool isLost = m_socket->GetErrno() == ns3::Socket::ERROR_NOROUTETOHOST;
                m_network.m_fates.Dropped(mark, isLost ? NO_ROUTE : UNKNOWN);
            }
        }

        void Flood(const Mark& mark, const uint8_t* payload)
        {
            m_seen.insert(mark.datagram);
            Repeat(Packet(mark, payload));
        }

      private:
        ns3::Ptr<ns3::Socket> Listen(uint16_t port, ns3::Callback<void, ns3::Ptr<ns3::Socket>> handler)
        {
            auto node = m_network.m_radios.nodes.Get(m_node);
            auto socket = ns3::Socket::CreateSocket(node, ns3::UdpSocketFactory::GetTypeId());
            socket->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
            socket->SetAllowBroadcast(true);
            socket->SetIpRecvTtl(true);
            socket->SetRecvCallback(handler);
            return socket;
        }

        void ConnectTraces()
        {
            const auto& radios = m_network.m_radios;
            auto device = radios.Device(m_node);
            device->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin",
                                                         ns3::MakeCallback(&Air::HandleFrame, &m_network.m_air));
            device->GetMac()->TraceConnectWithoutContext("DroppedMpdu", ns3::MakeCallback(&Host::HandleMacDrop, this));
            auto node = radios.nodes.Get(m_node);
            node->GetObject<ns3::Ipv4L3Protocol>()->TraceConnectWithoutContext(
                "Drop",
                ns3::MakeCallback(&Host::HandleIpDrop, this));
            node->GetObject<ns3::TrafficControlLayer>()->TraceConnectWithoutContext(
                "TcDrop",
                ns3::MakeCallback(&Host::HandleQueueDrop, this));
            node->GetObject<ns3::ArpL3Protocol>()->TraceConnectWithoutContext(
                "Drop",
                ns3::MakeCallback(&Host::HandleArpDrop, this));
            radios.ArpCacheOf(m_node)->TraceConnectWithoutContext("Drop",
                                                                  ns3::MakeCallback(&Host::HandleArpDrop, this));
            if (m_network.m_floods)
            {
                device->GetPhy()->TraceConnectWithoutContext("PhyTxEnd", ns3::MakeCallback(&Host::HandleSent, this));
                return;
            }
            device->GetMac()->TraceConnectWithoutContext("AckedMpdu", ns3::MakeCallback(&Host::HandleAcked, this));
        }

        static ns3::Ptr<ns3::Packet> Packet(const Mark& mark, const uint8_t* payload)
        {
            const uint32_t size = mark.sent.size;
            auto packet = payload ? ns3::Create<ns3::Packet>(payload, size) : ns3::Create<ns3::Packet>(size);
            packet->AddPacketTag(mark);
            return packet;
        }

        // Of the frame at hand; every socket is called within its reception.
        float Signal() const
        {
            const auto signal = m_manager->GetMostRecentRssi(m_sender);
            return signal ? float(*signal) : std::numeric_limits<float>::quiet_NaN();
        }

        // --- sockets -----------------------------------------------------------------------------------------

        void HandleArrival(ns3::Ptr<ns3::Socket> socket)
        {
            while (auto packet = socket->Recv())
            {
                Mark mark;
                if (!packet->PeekPacketTag(mark))
                {
                    continue;
                }
                uint32_t hops = 1;
                ns3::SocketIpTtlTag ttl;
                if (mark.receiver != BROADCAST && packet->PeekPacketTag(ttl))
                {
                    hops = m_network.m_config.maxHops - ttl.GetTtl() + 1;
                }
                m_network.m_fates.Arrived(mark, m_node, hops, Signal());
            }
        }

        void HandleFlood(ns3::Ptr<ns3::Socket> socket)
        {
            while (auto packet = socket->Recv())
            {
                Mark mark;
                if (!packet->PeekPacketTag(mark) || !m_seen.insert(mark.datagram).second)
                {
                    continue;
                }
                auto& fates = m_network.m_fates;
                if (mark.receiver == m_node)
                {
                    fates.Arrived(mark, m_node, mark.hops, Signal());
                    continue;
                }
                fates.Copied(mark);
                if (mark.hops >= m_network.m_config.floodingMaxHops)
                {
                    fates.Dropped(mark, TTL);
                    continue;
                }
                const auto wait = ns3::NanoSeconds(m_network.DrawJitterNs());
                auto copy = ns3::Create<ns3::Packet>(packet->GetSize());
                if (m_network.m_hasPayloads)
                {
                    copy = packet->Copy();
                    copy->RemoveAllPacketTags();
                }
                copy->AddPacketTag(mark);
                ns3::Simulator::Schedule(wait, &Host::Repeat, this, copy);
            }
        }

        void Repeat(ns3::Ptr<ns3::Packet> packet)
        {
            Mark mark;
            packet->RemovePacketTag(mark);
            ++mark.hops;
            packet->AddPacketTag(mark);
            ns3::SocketIpTtlTag ttl;
            ttl.SetTtl(1);
            packet->AddPacketTag(ttl);
            if (m_flood->SendTo(packet, 0, ns3::InetSocketAddress(ns3::Ipv4Address::GetBroadcast(), FLOODING_PORT)) < 0)
            {
                m_network.m_fates.Dropped(mark, UNKNOWN);
            }
        }

        // --- traces ------------------------------------------------------------------------------------------

        void HandleFrame(ns3::Ptr<ns3::NetDevice>,
                         ns3::Ptr<const ns3::Packet> packet,
                         uint16_t,
                         const ns3::Address& from,
                         const ns3::Address&,
                         ns3::NetDevice::PacketType)
        {
            Mark mark;
            if (packet->PeekPacketTag(mark))
            {
                m_sender = ns3::Mac48Address::ConvertFrom(from);
                if (!m_network.m_floods)
                {
                    m_network.m_fates.Copied(mark);
                }
            }
        }

        void HandleAcked(ns3::Ptr<const ns3::WifiMpdu> mpdu)
        {
            Mark mark;
            if (mpdu->GetPacket()->PeekPacketTag(mark))
            {
                m_network.m_fates.PassedOn(mark);
            }
        }

        void HandleSent(ns3::Ptr<const ns3::Packet> frame)
        {
            Drop(frame, LOST);
        }

        void HandleMacDrop(ns3::WifiMacDropReason reason, ns3::Ptr<const ns3::WifiMpdu> mpdu)
        {
            switch (reason)
            {
            case ns3::WIFI_MAC_DROP_REACHED_RETRY_LIMIT:
                return Drop(mpdu->GetPacket(), RETRY_LIMIT);
            case ns3::WIFI_MAC_DROP_EXPIRED_LIFETIME:
                return Drop(mpdu->GetPacket(), LIFETIME);
            case ns3::WIFI_MAC_DROP_FAILED_ENQUEUE:
                return Drop(mpdu->GetPacket(), QUEUE_FULL);
            default:
                return Drop(mpdu->GetPacket(), UNKNOWN);
            }
        }

        void HandleIpDrop(const ns3::Ipv4Header&,
                          ns3::Ptr<const ns3::Packet> packet,
                          ns3::Ipv4L3Protocol::DropReason reason,
                          ns3::Ptr<ns3::Ipv4>,
                          uint32_t)
        {
            switch (reason)
            {
            case ns3::Ipv4L3Protocol::DROP_TTL_EXPIRED:
                return Drop(packet, TTL);
            case ns3::Ipv4L3Protocol::DROP_NO_ROUTE:
            case ns3::Ipv4L3Protocol::DROP_ROUTE_ERROR:
                return Drop(packet, NO_ROUTE);
            default:
                return Drop(packet, UNKNOWN);
            }
        }

        void HandleArpDrop(ns3::Ptr<const ns3::Packet> packet)
        {
            Drop(packet, NO_ROUTE);
        }

        void HandleQueueDrop(ns3::Ptr<const ns3::Packet> packet)
        {
            Drop(packet, QUEUE_FULL);
        }

        void Drop(ns3::Ptr<const ns3::Packet> packet, Reason reason)
        {
            Mark mark;
            if (packet->PeekPacketTag(mark))
            {
                m_network.m_fates.Dropped(mark, reason);
            }
        }

        Network& m_network;
        uint32_t m_node;
        ns3::Ptr<ns3::Socket> m_socket;
        ns3::Ptr<ns3::Socket> m_flood;
        std::unordered_set<uint64_t> m_seen; // flooded datagrams
        ns3::Ptr<ns3::WifiRemoteStationManager> m_manager;
        ns3::Mac48Address m_sender; // of the latest datagram
    };

    void Send(const Transmission sent, const uint8_t* payload)
    {
        m_hasPayloads = payload != nullptr;
        if (sent.destination == BROADCAST || sent.destination < FIRST_GROUP)
        {
            SendTo(sent, sent.destination, payload);
            return;
        }
        for (const uint32_t member : m_config.groups.at(sent.destination - FIRST_GROUP))
        {
            if (member != sent.source)
            {
                SendTo(sent, member, payload);
            }
        }
    }

    void SendTo(const Transmission& sent, uint32_t receiver, const uint8_t* payload)
    {
        Mark mark;
        mark.sent = sent;
        mark.receiver = receiver;
        mark.datagram = ++m_datagrams;
        if (receiver != BROADCAST)
        {
            m_fates.Open(mark);
        }
        if (sent.size > LARGEST_PAYLOAD)
        {
            m_fates.Dropped(mark, TOO_LONG);
        }
        else if (receiver == sent.source)
        {
            // No routing protocol of ns-3 has a route to oneself.
            m_fates.Arrived(mark, receiver, 0, std::numeric_limits<float>::quiet_NaN());
        }
        else if (m_floods && receiver != BROADCAST)
        {
            m_hosts[sent.source]->Flood(mark, payload);
        }
        else
        {
            m_hosts[sent.source]->SendTo(mark, payload);
        }
    }

    int64_t DrawJitterNs()
    {
        return int64_t(m_jitter->GetValue(0, double(m_config.floodingJitterNs)));
    }

    Config m_config;
    Radios m_radios;
    Air m_air;
    Fates m_fates;
    Outputs m_outputs;
    bool m_floods;
    bool m_hasPayloads = false;
    ns3::Ptr<ns3::UniformRandomVariable> m_jitter;
    std::vector<std::unique_ptr<Host>> m_hosts;
    std::vector<uint32_t> m_queues;
    uint64_t m_datagrams = 0;
};

// Builds a network from its description; what is wrong with it, or nothing.
inline std::string
MakeNetwork(const std::string& text, std::unique_ptr<Network>& network)
{
    Config config;
    if (auto problem = Parse(text, config); !problem.empty())
    {
        return problem;
    }
    if (auto problem = SetDefaults(config.attributes); !problem.empty())
    {
        return problem;
    }
    if (auto problem = SetCarefully(config.userAttributes, false); !problem.empty())
    {
        return "user: " + problem;
    }
    if (!config.captures.empty()) // otherwise ns-3 leaves checksums out
    {
        ns3::GlobalValue::Bind("ChecksumEnabled", ns3::BooleanValue(true));
    }
    network = std::make_unique<Network>(config);
    if (auto problem = SetCarefully(config.userAttributes, true); !problem.empty())
    {
        return "user: " + problem;
    }
    network->BeginOutputs();
    return "";
}

// Calls back at a time, after everything else that is due then: when nothing has happened since it last looked.
class Border
{
  public:
    void At(int64_t time, std::function<void()> then)
    {
        m_then = std::move(then);
        m_events = NEVER;
        ns3::Simulator::Schedule(ns3::NanoSeconds(time) - ns3::Simulator::Now(), &Border::Look, this);
    }

  private:
    static constexpr uint64_t NEVER = UINT64_MAX - 1;

    void Look()
    {
        const uint64_t events = ns3::Simulator::GetEventCount();
        if (events == m_events + 1)
        {
            m_then();
            return;
        }
        m_events = events;
        ns3::Simulator::ScheduleNow(&Border::Look, this);
    }

    std::function<void()> m_then;
    uint64_t m_events = NEVER;
};

} // namespace robonet
