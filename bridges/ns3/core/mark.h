// What a datagram of ours carries beside its bytes: who sent which packet to whom, so that any trace can tell.
#pragma once

#include "ns3/tag.h"

#include <cstdint>
#include <ostream>

namespace robonet
{

constexpr uint32_t BROADCAST = 0xFFFFFFFF;
constexpr uint32_t FIRST_GROUP = 0x80000000;

#pragma pack(push, 1)

struct Transmission // robonet.link.messages.TRANSMISSION
{
    uint64_t packet;
    int64_t time;
    uint32_t source;
    uint32_t destination;
    uint32_t size;
};

#pragma pack(pop)

class Mark : public ns3::Tag
{
  public:
    Transmission sent{};
    uint32_t receiver = BROADCAST;
    uint64_t datagram = 0; // one a datagram: a packet to a group is many
    uint32_t hops = 0;     // that a flooded datagram has made

    static ns3::TypeId GetTypeId()
    {
        static ns3::TypeId tid = ns3::TypeId("robonet::Mark").SetParent<Tag>().AddConstructor<Mark>();
        return tid;
    }

    ns3::TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }

    uint32_t GetSerializedSize() const override
    {
        return 3 * 8 + 5 * 4;
    }

    void Serialize(ns3::TagBuffer buffer) const override
    {
        buffer.WriteU64(sent.packet);
        buffer.WriteU64(uint64_t(sent.time));
        buffer.WriteU64(datagram);
        buffer.WriteU32(sent.source);
        buffer.WriteU32(sent.destination);
        buffer.WriteU32(sent.size);
        buffer.WriteU32(receiver);
        buffer.WriteU32(hops);
    }

    void Deserialize(ns3::TagBuffer buffer) override
    {
        sent.packet = buffer.ReadU64();
        sent.time = int64_t(buffer.ReadU64());
        datagram = buffer.ReadU64();
        sent.source = buffer.ReadU32();
        sent.destination = buffer.ReadU32();
        sent.size = buffer.ReadU32();
        receiver = buffer.ReadU32();
        hops = buffer.ReadU32();
    }

    void Print(std::ostream& out) const override
    {
        out << "packet=" << sent.packet << " source=" << sent.source << " receiver=" << receiver;
    }
};

} // namespace robonet
