// Routing over the true graph of the moment: what an all-knowing router would do, with no messages.
#pragma once

#include "ns3/ipv4-address.h"
#include "ns3/ipv4-interface-address.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-helper.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/mobility-model.h"
#include "ns3/node.h"
#include "ns3/propagation-loss-model.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace robonet
{

// Who could hear whom, from positions and mean powers; worked out when asked for after a move.
class TrueGraph
{
  public:
    static constexpr int32_t NOBODY = -1;

    void Set(ns3::Ptr<ns3::PropagationLossModel> loss,
             std::vector<ns3::Ptr<ns3::MobilityModel>> places,
             std::vector<double> powersDbm,
             double leastDbm)
    {
        m_loss = loss;
        m_places = std::move(places);
        m_powersDbm = std::move(powersDbm);
        m_leastDbm = leastDbm;
    }

    void Moved()
    {
        m_searches.clear();
        m_heardBy.clear();
    }

    // The lowest-numbered neighbour on a shortest path.
    int32_t NextHop(uint32_t from, uint32_t to)
    {
        if (m_heardBy.empty())
        {
            FindLinks();
        }
        auto found = m_searches.find(to);
        if (found == m_searches.end())
        {
            found = m_searches.emplace(to, Search(to)).first;
        }
        return found->second[from];
    }

  private:
    void FindLinks()
    {
        m_heardBy.resize(m_places.size());
        for (uint32_t to = 0; to < m_places.size(); ++to)
        {
            for (uint32_t from = 0; from < m_places.size(); ++from)
            {
                if (from != to && m_loss->CalcRxPower(m_powersDbm[from], m_places[from], m_places[to]) >= m_leastDbm)
                {
                    m_heardBy[to].push_back(from);
                }
            }
        }
    }

    std::vector<int32_t> Search(uint32_t to) const
    {
        std::vector<int32_t> next(m_places.size(), NOBODY);
        std::vector<uint32_t> ring{to};
        next[to] = int32_t(to);
        while (!ring.empty())
        {
            std::vector<int32_t> chosen(m_places.size(), NOBODY);
            for (const uint32_t node : ring)
            {
                for (const uint32_t from : m_heardBy[node])
                {
                    if (next[from] == NOBODY && (chosen[from] == NOBODY || int32_t(node) < chosen[from]))
                    {
                        chosen[from] = int32_t(node);
                    }
                }
            }
            ring.clear();
            for (uint32_t node = 0; node < chosen.size(); ++node)
            {
                if (chosen[node] != NOBODY)
                {
                    next[node] = chosen[node];
                    ring.push_back(node);
                }
            }
        }
        return next;
    }

    ns3::Ptr<ns3::PropagationLossModel> m_loss;
    std::vector<ns3::Ptr<ns3::MobilityModel>> m_places;
    std::vector<double> m_powersDbm;
    double m_leastDbm = 0;
    std::vector<std::vector<uint32_t>> m_heardBy;
    std::unordered_map<uint32_t, std::vector<int32_t>> m_searches;
};

constexpr uint32_t FIRST_ADDRESS = 10u << 24 | 1; // 10.0.0.1 is node 0's

inline ns3::Ipv4Address
AddressOf(uint32_t node)
{
    return ns3::Ipv4Address(FIRST_ADDRESS + node);
}

inline uint32_t
NodeAt(ns3::Ipv4Address address)
{
    return address.Get() - FIRST_ADDRESS;
}

class TruePaths : public ns3::Ipv4RoutingProtocol
{
  public:
    TruePaths(TrueGraph& graph, uint32_t node)
        : m_graph(&graph),
          m_node(node)
    {
    }

    ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet>,
                                         const ns3::Ipv4Header& header,
                                         ns3::Ptr<ns3::NetDevice>,
                                         ns3::Socket::SocketErrno& error) override
    {
        auto route = RouteTo(header.GetDestination());
        error = route ? ns3::Socket::ERROR_NOTERROR : ns3::Socket::ERROR_NOROUTETOHOST;
        return route;
    }

    bool RouteInput(ns3::Ptr<const ns3::Packet> packet,
                    const ns3::Ipv4Header& header,
                    ns3::Ptr<const ns3::NetDevice> device,
                    const UnicastForwardCallback& forward,
                    const MulticastForwardCallback&,
                    const LocalDeliverCallback& deliver,
                    const ErrorCallback&) override
    {
        const auto interface = uint32_t(m_ipv4->GetInterfaceForDevice(device));
        if (m_ipv4->IsDestinationAddress(header.GetDestination(), interface))
        {
            deliver(packet, header, interface);
            return true;
        }
        auto route = RouteTo(header.GetDestination());
        if (route)
        {
            forward(route, packet, header);
        }
        return bool(route);
    }

    void NotifyInterfaceUp(uint32_t) override
    {
    }

    void NotifyInterfaceDown(uint32_t) override
    {
    }

    void NotifyAddAddress(uint32_t, ns3::Ipv4InterfaceAddress) override
    {
    }

    void NotifyRemoveAddress(uint32_t, ns3::Ipv4InterfaceAddress) override
    {
    }

    void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override
    {
        m_ipv4 = ipv4;
    }

    void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override
    {
    }

  private:
    ns3::Ptr<ns3::Ipv4Route> RouteTo(ns3::Ipv4Address destination)
    {
        constexpr uint32_t radio = 1; // interface 0 is the loopback
        const int32_t hop = m_graph->NextHop(m_node, NodeAt(destination));
        if (hop == TrueGraph::NOBODY)
        {
            return nullptr;
        }
        auto route = ns3::Create<ns3::Ipv4Route>();
        route->SetDestination(destination);
        route->SetGateway(AddressOf(uint32_t(hop)));
        route->SetSource(AddressOf(m_node));
        route->SetOutputDevice(m_ipv4->GetNetDevice(radio));
        return route;
    }

    TrueGraph* m_graph;
    uint32_t m_node;
    ns3::Ptr<ns3::Ipv4> m_ipv4;
};

class TruePathsHelper : public ns3::Ipv4RoutingHelper
{
  public:
    explicit TruePathsHelper(TrueGraph& graph)
        : m_graph(&graph)
    {
    }

    TruePathsHelper* Copy() const override
    {
        return new TruePathsHelper(*this);
    }

    ns3::Ptr<ns3::Ipv4RoutingProtocol> Create(ns3::Ptr<ns3::Node> node) const override
    {
        return ns3::CreateObject<TruePaths>(*m_graph, node->GetId());
    }

  private:
    TrueGraph* m_graph;
};

} // namespace robonet
