// Plays one workload (positions per step, a list of transmissions) on ns-3 alone and prints what came of it as JSON.
//
// The workload file is text up to a line "data", one "key value" a line, then two little-endian arrays:
//   positions      float64 [steps][nodes][2], metres; row k holds from k * step_ns until the next row
//   transmissions  { int64 time_ns; int32 source; int32 destination; int32 payload_bytes } packed, sorted by time;
//                  destination -1 is a broadcast
// benchmarks/ns3_peer/paper_workload.py writes it. Whatever the header does not name keeps ns-3's default, and an
// "attribute NAME VALUE" line changes any default, so that a comparison lists all it departs from.

#include "ns3/aodv-helper.h"
#include "ns3/arp-cache.h"
#include "ns3/arp-l3-protocol.h"
#include "ns3/boolean.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/mobility-helper.h"
#include "ns3/queue-item.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-psdu.h"
#include "ns3/yans-wifi-helper.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

static_assert(std::endian::native == std::endian::little, "the workload's arrays are read as they lie in memory");

namespace
{

constexpr uint16_t APPLICATION_PORT = 9000;
constexpr uint16_t AODV_PORT = 654;
constexpr int INITIAL_TTL = 64;
constexpr uint32_t INDEX_BYTES = 4; // each payload begins with its packet's index

[[noreturn]] void
Refuse(const std::string& why)
{
    std::cerr << "workload: " << why << std::endl;
    std::exit(2);
}

// --- the workload file -------------------------------------------------------------------------------------

#pragma pack(push, 1)

struct Transmission
{
    int64_t timeNs;
    int32_t source;
    int32_t destination;
    int32_t payloadBytes;
};

#pragma pack(pop)

struct Workload
{
    uint32_t nodes = 0;
    int64_t stepNs = 0;
    uint32_t steps = 0;
    int64_t durationNs = 0;
    std::string standard = "802.11a";
    std::string rate = "OfdmRate6Mbps";
    double txPowerDbm = 0;
    double exponent = 3;
    double referenceLossDb = 46.6777;
    bool hasAodv = true;
    bool hasHello = true;
    bool knowsNeighbours = false; // ARP tables filled beforehand
    std::vector<std::pair<std::string, std::string>> attributes;
    std::vector<double> positions;
    std::vector<Transmission> transmissions;
};

template <typename T>
void
ReadArray(std::ifstream& file, std::vector<T>& array, size_t count, const char* what)
{
    array.resize(count);
    const auto bytes = static_cast<std::streamsize>(count * sizeof(T));
    file.read(reinterpret_cast<char*>(array.data()), bytes);
    if (file.gcount() != bytes)
    {
        Refuse(std::string("the file ends within its ") + what);
    }
}

Workload
Read(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
    {
        Refuse("cannot open " + path);
    }
    Workload w;
    size_t transmissions = 0;
    std::string line;
    std::getline(file, line);
    if (line != "robonet-ns3-workload 1")
    {
        Refuse(path + " does not begin with 'robonet-ns3-workload 1'");
    }
    while (std::getline(file, line) && line != "data")
    {
        std::istringstream words(line);
        std::string key;
        words >> key;
        if (key == "nodes")
            words >> w.nodes;
        else if (key == "step_ns")
            words >> w.stepNs;
        else if (key == "steps")
            words >> w.steps;
        else if (key == "duration_ns")
            words >> w.durationNs;
        else if (key == "transmissions")
            words >> transmissions;
        else if (key == "standard")
            words >> w.standard;
        else if (key == "rate")
            words >> w.rate;
        else if (key == "tx_power_dbm")
            words >> w.txPowerDbm;
        else if (key == "path_loss_exponent")
            words >> w.exponent;
        else if (key == "reference_loss_db")
            words >> w.referenceLossDb;
        else if (key == "aodv")
            words >> w.hasAodv;
        else if (key == "hello")
            words >> w.hasHello;
        else if (key == "arp_filled")
            words >> w.knowsNeighbours;
        else if (key == "attribute")
        {
            std::string name;
            std::string value;
            words >> name;
            std::getline(words >> std::ws, value);
            w.attributes.emplace_back(name, value);
        }
        else
            Refuse("unknown key '" + key + "'");
        if (words.fail())
        {
            Refuse("cannot read the value in '" + line + "'");
        }
    }
    if (w.standard != "802.11a" && w.standard != "802.11b")
    {
        Refuse("standard is '" + w.standard + "', neither 802.11a nor 802.11b");
    }
    if (w.nodes < 1 || w.steps < 1 || w.stepNs < 1 || w.durationNs < 1)
    {
        Refuse("nodes, steps, step_ns and duration_ns must be given and positive");
    }
    ReadArray(file, w.positions, size_t{w.steps} * w.nodes * 2, "positions");
    ReadArray(file, w.transmissions, transmissions, "transmissions");
    int64_t earliest = 0;
    for (const auto& t : w.transmissions)
    {
        const bool hasEnds = t.source >= 0 && t.source < int32_t(w.nodes) && t.destination >= -1 &&
                             t.destination < int32_t(w.nodes) && t.source != t.destination;
        if (!hasEnds || t.payloadBytes < int32_t(INDEX_BYTES) || t.timeNs < earliest)
        {
            Refuse("a transmission names an unknown node, has a payload under 4 bytes, or is out of order");
        }
        earliest = t.timeNs;
    }
    return w;
}

// --- what is on the air ------------------------------------------------------------------------------------

enum Kind
{
    DATA,
    RREQ,
    RREP,
    RREP_ACK,
    RERR,
    HELLO,
    ARP_REQUEST,
    ARP_REPLY,
    OTHER,
    ACK,
    RTS,
    CTS,
    KINDS
};

constexpr std::array<const char*, KINDS> KIND_NAMES =
    {"data", "rreq", "rrep", "rrep_ack", "rerr", "hello", "arp_request", "arp_reply", "other", "ack", "rts", "cts"};

uint16_t
Word(const uint8_t* bytes)
{
    return uint16_t(bytes[0] << 8 | bytes[1]);
}

// Reads bytes rather than ns-3 headers: it happens for every frame inside the time that is measured.
Kind
KindOfIpv4(const uint8_t* ip, uint32_t size)
{
    constexpr uint32_t udp = 20;
    constexpr uint32_t aodv = udp + 8;
    if (size < aodv || ip[0] != 0x45 || ip[9] != 17)
    {
        return OTHER;
    }
    const uint16_t port = Word(ip + udp + 2);
    if (port == APPLICATION_PORT)
    {
        return DATA;
    }
    if (port != AODV_PORT || size <= aodv)
    {
        return OTHER;
    }
    switch (ip[aodv])
    {
    case 1:
        return RREQ;
    case 2: // RFC 3561, 6.9: a hello is a RREP; in a true one the destination never is the originator
        return size >= aodv + 16 && std::equal(ip + aodv + 4, ip + aodv + 8, ip + aodv + 12) ? HELLO : RREP;
    case 3:
        return RERR;
    case 4:
        return RREP_ACK;
    default:
        return OTHER;
    }
}

Kind
KindOfFrame(const WifiMacHeader& header, Ptr<const Packet> body)
{
    if (header.IsAck())
        return ACK;
    if (header.IsRts())
        return RTS;
    if (header.IsCts())
        return CTS;
    constexpr uint32_t llc = 8;
    std::array<uint8_t, llc + 48> bytes;
    const uint32_t size = body->CopyData(bytes.data(), bytes.size());
    if (!header.IsData() || size < llc + 8)
        return OTHER;
    const uint16_t type = Word(bytes.data() + 6);
    if (type == 0x0806)
        return Word(bytes.data() + llc + 6) == 1 ? ARP_REQUEST : ARP_REPLY;
    return type == 0x0800 ? KindOfIpv4(bytes.data() + llc, size - llc) : OTHER;
}

// --- the run -----------------------------------------------------------------------------------------------

struct Tally
{
    std::array<uint64_t, KINDS> frames{};
    std::array<uint64_t, KINDS> retries{};
    uint64_t broadcasts = 0;
    uint64_t bytesOnAir = 0;
    Time airtime;
    std::map<std::string, uint64_t> drops; // "layer_reason_kind"
    std::map<std::string, uint64_t> phyDrops;
    uint64_t refused = 0;
    uint64_t receptions = 0;
    std::vector<int64_t> arrivals; // -1: never
    std::vector<int16_t> hops;
};

class Run
{
  public:
    Run(const Workload& workload, bool countsFrames, bool countsPhyDrops)
        : m_workload(workload)
    {
        m_tally.arrivals.assign(workload.transmissions.size(), -1);
        m_tally.hops.assign(workload.transmissions.size(), -1);
        BuildNodes();
        ConnectDrops();
        if (countsFrames)
        {
            Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/Phy/PhyTxPsduBegin",
                                          MakeCallback(&Run::HandleFrame, this));
        }
        if (countsPhyDrops)
        {
            Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/Phy/PhyRxDrop",
                                          MakeCallback(&Run::HandlePhyDrop, this));
        }
        ScheduleAll();
    }

    // CPU seconds of the simulation itself.
    double Play()
    {
        Simulator::Stop(NanoSeconds(m_workload.durationNs));
        const double before = CpuSeconds();
        Simulator::Run();
        return CpuSeconds() - before;
    }

    const Tally& GetTally() const
    {
        return m_tally;
    }

  private:
    static double CpuSeconds()
    {
        rusage use;
        getrusage(RUSAGE_SELF, &use);
        return double(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
               1e-6 * double(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    }

    void BuildNodes()
    {
        m_nodes.Create(m_workload.nodes);
        MobilityHelper mobility;
        mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
        mobility.Install(m_nodes);
        for (uint32_t i = 0; i < m_workload.nodes; ++i)
        {
            m_places.push_back(m_nodes.Get(i)->GetObject<ConstantPositionMobilityModel>());
        }
        MoveTo(0);

        YansWifiChannelHelper channel;
        channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
        channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel",
                                   "Exponent",
                                   DoubleValue(m_workload.exponent),
                                   "ReferenceLoss",
                                   DoubleValue(m_workload.referenceLossDb));
        YansWifiPhyHelper phy;
        phy.SetChannel(channel.Create());
        phy.Set("TxPowerStart", DoubleValue(m_workload.txPowerDbm));
        phy.Set("TxPowerEnd", DoubleValue(m_workload.txPowerDbm));
        WifiMacHelper mac;
        mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
        WifiHelper wifi;
        const bool is80211b = m_workload.standard == "802.11b";
        wifi.SetStandard(is80211b ? WIFI_STANDARD_80211b : WIFI_STANDARD_80211a);
        m_band = is80211b ? WIFI_PHY_BAND_2_4GHZ : WIFI_PHY_BAND_5GHZ;
        const StringValue rate(m_workload.rate);
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode",
                                     rate,
                                     "ControlMode",
                                     rate,
                                     "NonUnicastMode",
                                     rate);
        const NetDeviceContainer devices = wifi.Install(phy, mac, m_nodes);

        AodvHelper aodv;
        aodv.Set("EnableHello", BooleanValue(m_workload.hasHello));
        InternetStackHelper internet;
        internet.SetIpv6StackInstall(false);
        if (m_workload.hasAodv)
        {
            internet.SetRoutingHelper(aodv);
        }
        internet.Install(m_nodes);
        Ipv4AddressHelper addresses("10.0.0.0", "255.0.0.0");
        m_interfaces = addresses.Assign(devices);
        if (m_workload.knowsNeighbours)
        {
            FillArpCaches();
        }

        // Streams by hand: otherwise each depends on how many objects were made before it, in any part of ns-3.
        int64_t stream = 1;
        stream += WifiHelper::AssignStreams(devices, stream);
        stream += internet.AssignStreams(m_nodes, stream);
        if (m_workload.hasAodv)
        {
            aodv.AssignStreams(m_nodes, stream);
        }

        for (uint32_t i = 0; i < m_workload.nodes; ++i)
        {
            auto socket = Socket::CreateSocket(m_nodes.Get(i), UdpSocketFactory::GetTypeId());
            socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), APPLICATION_PORT));
            socket->SetAllowBroadcast(true);
            socket->SetIpRecvTtl(true);
            socket->SetRecvCallback(MakeCallback(&Run::HandleArrival, this));
            m_sockets.push_back(socket);
        }
    }

    Ptr<ArpCache> ArpCacheOf(uint32_t node) const
    {
        const auto [stack, interface] = m_interfaces.Get(node);
        return DynamicCast<Ipv4L3Protocol>(stack)->GetInterface(interface)->GetArpCache();
    }

    // By hand: AODV does not recognize the entries NeighborCacheHelper makes, and would ignore the MAC's failures.
    void FillArpCaches()
    {
        for (uint32_t i = 0; i < m_workload.nodes; ++i)
        {
            for (uint32_t j = 0; j < m_workload.nodes; ++j)
            {
                if (i != j)
                {
                    auto entry = ArpCacheOf(i)->Add(m_interfaces.GetAddress(j));
                    entry->SetMacAddress(m_nodes.Get(j)->GetDevice(0)->GetAddress());
                    entry->MarkPermanent();
                }
            }
        }
    }

    void ConnectDrops()
    {
        const std::string device = "/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/Mac/$ns3::WifiMac/DroppedMpdu";
        Config::ConnectWithoutContext(device, MakeCallback(&Run::HandleMacDrop, this));
        for (uint32_t i = 0; i < m_workload.nodes; ++i)
        {
            auto ip = m_nodes.Get(i)->GetObject<Ipv4L3Protocol>();
            ip->TraceConnectWithoutContext("Drop", MakeCallback(&Run::HandleIpDrop, this));
            auto arp = m_nodes.Get(i)->GetObject<ArpL3Protocol>();
            arp->TraceConnectWithoutContext("Drop", MakeCallback(&Run::HandleArpDrop, this));
            ArpCacheOf(i)->TraceConnectWithoutContext("Drop", MakeCallback(&Run::HandleArpTimeout, this));
        }
        Config::ConnectWithoutContext("/NodeList/*/$ns3::TrafficControlLayer/RootQueueDiscList/*/Drop",
                                      MakeCallback(&Run::HandleQueueDrop, this));
    }

    // All before Run, positions first: at equal times ns-3 takes events in the order in which they were scheduled,
    // so a step's positions hold for everything that happens at its first nanosecond.
    void ScheduleAll()
    {
        for (uint32_t step = 1; step < m_workload.steps; ++step)
        {
            Simulator::Schedule(NanoSeconds(step * m_workload.stepNs), &Run::MoveTo, this, step);
        }
        for (uint32_t index = 0; index < m_workload.transmissions.size(); ++index)
        {
            const auto& t = m_workload.transmissions[index];
            Simulator::ScheduleWithContext(m_nodes.Get(t.source)->GetId(),
                                           NanoSeconds(t.timeNs),
                                           &Run::Send,
                                           this,
                                           index);
        }
    }

    void MoveTo(uint32_t step)
    {
        const double* row = m_workload.positions.data() + size_t{step} * m_workload.nodes * 2;
        for (uint32_t i = 0; i < m_workload.nodes; ++i)
        {
            m_places[i]->SetPosition(Vector(row[2 * i], row[2 * i + 1], 0));
        }
    }

    void Send(uint32_t index)
    {
        const auto& t = m_workload.transmissions[index];
        m_payload.assign(t.payloadBytes, 0);
        for (uint32_t i = 0; i < INDEX_BYTES; ++i)
        {
            m_payload[i] = uint8_t(index >> (8 * i));
        }
        const auto address =
            t.destination < 0 ? Ipv4Address::GetBroadcast() : m_interfaces.GetAddress(t.destination);
        auto packet = Create<Packet>(m_payload.data(), uint32_t(m_payload.size()));
        if (m_sockets[t.source]->SendTo(packet, 0, InetSocketAddress(address, APPLICATION_PORT)) < 0)
        {
            ++m_tally.refused;
        }
    }

    void HandleArrival(Ptr<Socket> socket)
    {
        while (auto packet = socket->Recv())
        {
            std::array<uint8_t, INDEX_BYTES> bytes{};
            packet->CopyData(bytes.data(), INDEX_BYTES);
            const uint32_t index = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | uint32_t{bytes[3]} << 24;
            ++m_tally.receptions;
            if (m_tally.arrivals.at(index) >= 0)
            {
                continue;
            }
            m_tally.arrivals[index] = Simulator::Now().GetNanoSeconds();
            SocketIpTtlTag ttl;
            if (packet->PeekPacketTag(ttl))
            {
                m_tally.hops[index] = int16_t(INITIAL_TTL - ttl.GetTtl() + 1);
            }
        }
    }

    void HandleFrame(WifiConstPsduMap psdus, WifiTxVector vector, double)
    {
        for (const auto& [station, psdu] : psdus)
        {
            m_tally.airtime += WifiPhy::CalculateTxDuration(psdu, vector, m_band);
            m_tally.bytesOnAir += psdu->GetSize();
            for (const auto& mpdu : *PeekPointer(psdu))
            {
                const auto& header = mpdu->GetHeader();
                const Kind kind = KindOfFrame(header, mpdu->GetPacket());
                ++m_tally.frames[kind];
                m_tally.retries[kind] += header.IsRetry();
                m_tally.broadcasts += header.GetAddr1().IsGroup();
            }
        }
    }

    void Drop(const char* cause, Kind kind)
    {
        ++m_tally.drops[std::string(cause) + "_" + KIND_NAMES[kind]];
    }

    void HandleMacDrop(WifiMacDropReason reason, Ptr<const WifiMpdu> mpdu)
    {
        const char* cause = reason == WIFI_MAC_DROP_REACHED_RETRY_LIMIT ? "mac_retry_limit"
                            : reason == WIFI_MAC_DROP_EXPIRED_LIFETIME  ? "mac_lifetime"
                                                                        : "mac_queue_full";
        Drop(cause, KindOfFrame(mpdu->GetHeader(), mpdu->GetPacket()));
    }

    void HandleIpDrop(const Ipv4Header& header,
                      Ptr<const Packet> packet,
                      Ipv4L3Protocol::DropReason reason,
                      Ptr<Ipv4>,
                      uint32_t)
    {
        const char* cause = reason == Ipv4L3Protocol::DROP_TTL_EXPIRED   ? "ip_ttl"
                            : reason == Ipv4L3Protocol::DROP_NO_ROUTE    ? "ip_no_route"
                            : reason == Ipv4L3Protocol::DROP_ROUTE_ERROR ? "ip_route_error"
                                                                         : "ip_other";
        auto whole = packet->Copy();
        whole->AddHeader(header);
        Drop(cause, KindOfIpv4Packet(whole));
    }

    void HandleArpDrop(Ptr<const Packet> packet)
    {
        Drop("arp_pending_or_dead", KindOfIpv4Packet(packet));
    }

    void HandleArpTimeout(Ptr<const Packet> packet)
    {
        Drop("arp_no_reply", KindOfIpv4Packet(packet));
    }

    void HandleQueueDrop(Ptr<const QueueDiscItem>)
    {
        Drop("queue_disc", OTHER);
    }

    void HandlePhyDrop(Ptr<const Packet>, WifiPhyRxfailureReason reason)
    {
        std::ostringstream name;
        name << reason;
        ++m_tally.phyDrops[name.str()];
    }

    static Kind KindOfIpv4Packet(Ptr<const Packet> packet)
    {
        std::array<uint8_t, 48> bytes;
        const uint32_t size = packet->CopyData(bytes.data(), bytes.size());
        return KindOfIpv4(bytes.data(), size);
    }

    const Workload& m_workload;
    WifiPhyBand m_band = WIFI_PHY_BAND_5GHZ;
    Tally m_tally;
    NodeContainer m_nodes;
    Ipv4InterfaceContainer m_interfaces;
    std::vector<Ptr<ConstantPositionMobilityModel>> m_places;
    std::vector<Ptr<Socket>> m_sockets;
    std::vector<uint8_t> m_payload;
};

// --- the report --------------------------------------------------------------------------------------------

class Json
{
  public:
    Json()
    {
        m_text.precision(10);
    }

    template <typename T>
    void Add(const char* key, const T& value)
    {
        m_text << Separator() << '"' << key << "\": " << value;
    }

    void AddOrNull(const char* key, bool isKnown, double value)
    {
        isKnown ? Add(key, value) : Add(key, "null");
    }

    template <typename Map>
    void AddObject(const char* key, const Map& map)
    {
        std::ostringstream object;
        for (const auto& [name, value] : map)
        {
            object << (object.tellp() > 0 ? ", " : "") << '"' << name << "\": " << value;
        }
        Add(key, '{' + object.str() + '}');
    }

    template <typename T>
    void AddList(const char* key, const std::vector<T>& values)
    {
        std::ostringstream list;
        for (const auto& value : values)
        {
            list << (list.tellp() > 0 ? ", " : "") << value;
        }
        Add(key, '[' + list.str() + ']');
    }

    std::string Text()
    {
        return '{' + m_text.str() + "}\n";
    }

  private:
    const char* Separator()
    {
        return m_text.tellp() > 0 ? ", " : "";
    }

    std::ostringstream m_text;
};

double
Quantile(const std::vector<double>& sorted, double q)
{
    if (sorted.empty())
    {
        return 0;
    }
    const double at = q * double(sorted.size() - 1);
    const auto below = size_t(at);
    const auto above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - double(below)) * (sorted[above] - sorted[below]);
}

void
AddPackets(Json& json, const Workload& w, const Tally& tally)
{
    std::vector<double> delaysMs;
    std::map<int, uint64_t> hopCounts;
    double hopSum = 0;
    const auto seconds = size_t((w.durationNs + 999'999'999) / 1'000'000'000);
    std::vector<uint64_t> sentBySecond(seconds);
    std::vector<uint64_t> receivedBySecond(seconds);
    uint64_t sent = 0;
    for (size_t i = 0; i < w.transmissions.size(); ++i)
    {
        const int64_t sentAt = w.transmissions[i].timeNs;
        if (sentAt >= w.durationNs)
        {
            continue;
        }
        ++sent;
        ++sentBySecond[sentAt / 1'000'000'000];
        if (tally.arrivals[i] >= 0)
        {
            ++receivedBySecond[sentAt / 1'000'000'000];
            delaysMs.push_back(1e-6 * double(tally.arrivals[i] - sentAt));
            ++hopCounts[tally.hops[i]];
            hopSum += tally.hops[i];
        }
    }
    std::sort(delaysMs.begin(), delaysMs.end());
    const auto received = delaysMs.size();
    const double mean = std::accumulate(delaysMs.begin(), delaysMs.end(), 0.0) / double(std::max<size_t>(received, 1));
    json.Add("sent", sent);
    json.Add("received", received);
    json.AddOrNull("delivery_ratio", sent > 0, double(received) / double(std::max<uint64_t>(sent, 1)));
    json.AddOrNull("delay_mean_ms", received > 0, mean);
    json.AddOrNull("delay_median_ms", received > 0, Quantile(delaysMs, 0.5));
    json.AddOrNull("delay_p90_ms", received > 0, Quantile(delaysMs, 0.9));
    json.AddOrNull("delay_p99_ms", received > 0, Quantile(delaysMs, 0.99));
    json.AddOrNull("hops_mean", received > 0, hopSum / double(std::max<size_t>(received, 1)));
    json.AddObject("hops_counts", hopCounts);
    json.AddList("sent_by_second", sentBySecond);
    json.AddList("received_by_second", receivedBySecond); // by the second of sending
    json.Add("receptions", tally.receptions);
    json.Add("send_refused", tally.refused);
}

void
AddAir(Json& json, const Tally& tally)
{
    std::map<std::string, uint64_t> frames;
    std::map<std::string, uint64_t> retries;
    for (int kind = 0; kind < KINDS; ++kind)
    {
        frames[KIND_NAMES[kind]] = tally.frames[kind];
        retries[KIND_NAMES[kind]] = tally.retries[kind];
    }
    const auto sum = [](const auto& counts) { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); };
    const uint64_t all = sum(tally.frames);
    const uint64_t control = tally.frames[ACK] + tally.frames[RTS] + tally.frames[CTS];
    json.Add("frames", all);
    json.Add("frames_broadcast", tally.broadcasts);
    json.Add("frames_unicast", all - control - tally.broadcasts);
    json.Add("frames_control", control);
    json.AddObject("frames_by_kind", frames);
    json.Add("mac_retries", sum(tally.retries));
    json.AddObject("mac_retries_by_kind", retries);
    json.Add("air_bytes", tally.bytesOnAir);
    json.Add("airtime_s", tally.airtime.GetSeconds());
}

void
WritePackets(const std::string& path, const Tally& tally)
{
    std::ofstream file(path);
    file << "packet arrival_ns hops\n";
    for (size_t i = 0; i < tally.arrivals.size(); ++i)
    {
        file << i << ' ' << tally.arrivals[i] << ' ' << tally.hops[i] << '\n';
    }
    file.close();
    if (!file)
    {
        Refuse("cannot write " + path);
    }
}

} // namespace

int
main(int argc, char** argv)
{
    std::string path;
    std::string packets;
    uint32_t seed = 1;
    uint64_t run = 1;
    bool countsFrames = true;
    bool countsPhyDrops = false;
    CommandLine command;
    command.AddValue("workload", "file to play", path);
    command.AddValue("packets", "file for one line a packet: index, arrival in ns and hops, -1 if lost", packets);
    command.AddValue("seed", "ns-3's global seed", seed);
    command.AddValue("run", "ns-3's run number", run);
    command.AddValue("frames", "count the frames on the air", countsFrames);
    command.AddValue("phy-drops", "count failed receptions by reason", countsPhyDrops);
    command.Parse(argc, argv);

    const Workload workload = Read(path);
    for (const auto& [name, value] : workload.attributes)
    {
        Config::SetDefault(name, StringValue(value));
    }
    RngSeedManager::SetSeed(seed);
    RngSeedManager::SetRun(run);
    Run simulation(workload, countsFrames, countsPhyDrops);
    const double cpu = simulation.Play();

    Json json;
    json.Add("nodes", workload.nodes);
    json.Add("duration_s", 1e-9 * double(workload.durationNs));
    json.Add("seed", seed);
    json.Add("run", run);
    AddPackets(json, workload, simulation.GetTally());
    if (countsFrames)
    {
        AddAir(json, simulation.GetTally());
    }
    json.AddObject("drops", simulation.GetTally().drops);
    if (countsPhyDrops)
    {
        json.AddObject("phy_drops", simulation.GetTally().phyDrops);
    }
    json.Add("events", Simulator::GetEventCount());
    json.Add("cpu_s", cpu);
    std::cout << json.Text();
    if (!packets.empty())
    {
        WritePackets(packets, simulation.GetTally());
    }
    Simulator::Destroy();
    return 0;
}
