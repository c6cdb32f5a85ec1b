// What becomes of datagrams, as far as ns-3's traces tell: copies are counted, because a frame whose ACK was lost
// is given up by its sender while its receiver has it.
#pragma once

#include "mark.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace robonet
{

enum Reason : uint8_t // the order of REASONS in robonet_bridges.ns3.library
{
    UNKNOWN,
    NO_ROUTE,
    TTL,
    QUEUE_FULL,
    RETRY_LIMIT,
    LIFETIME,
    LOST,
    TOO_LONG,
};

enum Kind : uint8_t
{
    ARRIVED,
    DROPPED,
};

struct Event // EVENT in robonet_bridges.ns3.library
{
    uint64_t packet;
    int64_t sent;
    int64_t time;
    uint32_t source;
    uint32_t destination;
    uint32_t size;
    uint32_t node;
    float signalDbm;
    uint16_t hops;
    Kind kind;
    Reason reason;
};

static_assert(sizeof(Event) == 48, "the driver reads these as they lie in memory");

class Fates
{
  public:
    // A receiver further away than this from its sender would have to be 30 km away.
    static constexpr int64_t ON_AIR_NS = 100'000;

    void Open(const Mark& mark)
    {
        m_journeys.emplace(mark.datagram, Journey{mark.sent});
    }

    // One more node has the datagram.
    void Copied(const Mark& mark)
    {
        if (auto* journey = Find(mark))
        {
            ++journey->copies;
        }
    }

    // A node is done with the datagram because another one has it.
    void PassedOn(const Mark& mark)
    {
        End(mark, UNKNOWN, false);
    }

    void Dropped(const Mark& mark, Reason reason)
    {
        End(mark, reason, true);
    }

    void Arrived(const Mark& mark, uint32_t node, uint32_t hops, float signalDbm)
    {
        if (mark.receiver != BROADCAST && m_journeys.erase(mark.datagram) == 0)
        {
            return; // a copy that came late
        }
        Tell(mark.sent, node, hops, signalDbm, ARRIVED, UNKNOWN, ns3::Simulator::Now().GetNanoSeconds());
    }

    // Whether it is not yet delivered nor given up.
    bool IsOpen(const Mark& mark) const
    {
        return m_journeys.count(mark.datagram) > 0;
    }

    // What has happened since the last call; datagrams without a copy left are given up now.
    const std::vector<Event>& Take(int64_t now)
    {
        std::vector<uint64_t> young;
        for (const uint64_t datagram : m_gone)
        {
            const auto found = m_journeys.find(datagram);
            if (found == m_journeys.end() || found->second.copies > 0)
            {
                continue;
            }
            if (found->second.time + m_patienceNs > now)
            {
                young.push_back(datagram);
                continue;
            }
            const Journey journey = found->second;
            m_journeys.erase(found);
            if (journey.sent.destination < FIRST_GROUP)
            {
                Tell(journey.sent, journey.sent.destination, 0, NO_SIGNAL, DROPPED, journey.reason, journey.time);
            }
        }
        m_gone = std::move(young);
        m_told.swap(m_events);
        m_events.clear();
        return m_told;
    }

    // Where datagrams are repeated, frames on the air are nobody's copy for a moment.
    void WaitForFramesOnAir()
    {
        m_patienceNs = ON_AIR_NS;
    }

  private:
    static constexpr float NO_SIGNAL = std::numeric_limits<float>::quiet_NaN();

    struct Journey
    {
        Transmission sent;
        int32_t copies = 1;
        Reason reason = UNKNOWN;
        int64_t time = 0;
    };

    Journey* Find(const Mark& mark)
    {
        const auto found = m_journeys.find(mark.datagram);
        return found == m_journeys.end() ? nullptr : &found->second;
    }

    void End(const Mark& mark, Reason reason, bool isLoss)
    {
        if (auto* journey = Find(mark))
        {
            if (isLoss)
            {
                journey->reason = reason;
            }
            journey->time = ns3::Simulator::Now().GetNanoSeconds();
            if (--journey->copies <= 0)
            {
                m_gone.push_back(mark.datagram);
            }
        }
    }

    void Tell(const Transmission& t, uint32_t node, uint32_t hops, float signal, Kind kind, Reason reason, int64_t time)
    {
        m_events.push_back(
            {t.packet, t.time, time, t.source, t.destination, t.size, node, signal, uint16_t(hops), kind, reason});
    }

    std::unordered_map<uint64_t, Journey> m_journeys;
    std::vector<uint64_t> m_gone;
    std::vector<Event> m_events;
    std::vector<Event> m_told;
    int64_t m_patienceNs = 0;
};

} // namespace robonet
