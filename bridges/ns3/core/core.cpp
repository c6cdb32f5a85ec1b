// ns-3 in steps, for a driver in another language: plain functions, addresses as numbers.
//
// One network a process at a time, because ns-3's simulator is one. The same source is compiled into a library or
// handed to a just-in-time compiler.

#include "network.h"

#include "ns3/ipv4-address-generator.h"
#include "ns3/mac48-address.h"

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>

namespace robonet
{

struct Run
{
    std::unique_ptr<Network> network;
    Border border;
    std::string text; // of the last answer
    const std::vector<Event>* events = nullptr;
};

inline Run&
TheRun()
{
    static Run run;
    return run;
}

// Everything that ns-3 keeps from one simulation to the next, as it was when the process began.
inline void
Forget()
{
    TheRun().network.reset();
    ns3::Simulator::Destroy();
    ns3::Config::Reset();
    ns3::Mac48Address::ResetAllocationIndex();
    ns3::Ipv4AddressGenerator::Reset();
    ns3::RngSeedManager::ResetNextStreamIndex();
}

// ns-3 says what is wrong and terminates; this adds when, and sees to it that nobody has a later word.
[[noreturn]] inline void
SayWhen()
{
    std::cout.flush();
    std::signal(SIGABRT, SIG_DFL);
    if (std::current_exception())
    {
        try
        {
            throw;
        }
        catch (const std::exception& error)
        {
            std::cerr << "msg=\"" << error.what() << "\"" << std::endl;
        }
        catch (...)
        {
            std::cerr << "an exception of an unknown kind" << std::endl;
        }
    }
    std::cerr << "ns-3 gave up at simulated time " << ns3::Simulator::Now().GetNanoSeconds() << " ns (its words are above)"
              << std::endl;
    std::abort();
}

} // namespace robonet

extern "C"
{
    // The address of a text that says what is wrong, or 0.
    uint64_t robonet_ns3_start(uint64_t description)
    {
        std::set_terminate(robonet::SayWhen);
        robonet::Forget();
        auto& run = robonet::TheRun();
        try
        {
            run.text = robonet::MakeNetwork(reinterpret_cast<const char*>(description), run.network);
        }
        catch (const std::exception& error)
        {
            run.text = error.what();
        }
        if (run.text.empty())
        {
            return 0;
        }
        robonet::Forget();
        return reinterpret_cast<uint64_t>(run.text.c_str());
    }

    // Positions are x, y, z a node; transmissions are records; payloads their bytes one after the other, or 0.
    // Answers with the number of events, which stay where they are until the next step.
    uint64_t robonet_ns3_step(int64_t until, uint64_t positions, uint64_t transmissions, uint64_t count, uint64_t payloads)
    {
        auto& run = robonet::TheRun();
        run.network->MoveTo(reinterpret_cast<const double*>(positions));
        run.border.At(until, [] { ns3::Simulator::Stop(); });
        const auto* sent = reinterpret_cast<const robonet::Transmission*>(transmissions);
        const auto* bytes = reinterpret_cast<const uint8_t*>(payloads);
        for (uint64_t i = 0; i < count; ++i)
        {
            run.network->Schedule(sent[i], bytes);
            bytes += bytes ? sent[i].size : 0;
        }
        ns3::Simulator::Run();
        run.events = &run.network->TakeEvents(until);
        return run.events->size();
    }

    uint64_t robonet_ns3_events()
    {
        return reinterpret_cast<uint64_t>(robonet::TheRun().events->data());
    }

    // One uint32 a node.
    uint64_t robonet_ns3_queues()
    {
        return reinterpret_cast<uint64_t>(robonet::TheRun().network->QueueLengths().data());
    }

    // Writes what is left to be written; the address of a report in JSON.
    uint64_t robonet_ns3_end()
    {
        auto& run = robonet::TheRun();
        run.text = run.network->End();
        robonet::Forget();
        return reinterpret_cast<uint64_t>(run.text.c_str());
    }

    // Where they are, for drivers that cannot look up names.
    uint64_t robonet_ns3_functions[] = {
        reinterpret_cast<uint64_t>(&robonet_ns3_start),
        reinterpret_cast<uint64_t>(&robonet_ns3_step),
        reinterpret_cast<uint64_t>(&robonet_ns3_events),
        reinterpret_cast<uint64_t>(&robonet_ns3_queues),
        reinterpret_cast<uint64_t>(&robonet_ns3_end),
    };
}
