// A recorded run again, in ns-3 alone: the network of a description, motion and traffic from files, one Simulator::Run.
//
//   replay DESCRIPTION MOTION TRAFFIC DURATION_NS ARRIVALS
//
// DESCRIPTION  as config.h reads it
// MOTION       an ns-2 movement file of places: `$node_(0) set X_ 1.5`, later ones as `$ns_ at 0.1 "$node_(0) set X_ 2"`
// TRAFFIC      a line a packet: number, time in ns, source, destination, bytes; sorted by time
// ARRIVALS     is written: a line an arrival: packet, time in ns, receiver, hops
//
// Prints the CPU seconds of the simulation itself.

#include "network.h"

#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>

using namespace robonet;

namespace
{

[[noreturn]] void
Refuse(const std::string& why)
{
    std::cerr << "replay: " << why << std::endl;
    std::exit(2);
}

std::string
ReadAll(const char* path)
{
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

using Places = std::vector<double>; // x, y, z a node

std::map<int64_t, Places>
ReadMotion(const char* path, uint32_t nodes)
{
    std::map<int64_t, Places> motion{{0, Places(size_t{nodes} * 3)}};
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
    {
        double seconds = 0;
        unsigned node = 0;
        char axis = 0;
        double value = 0;
        const bool isFirst = std::sscanf(line.c_str(), "$node_(%u) set %c_ %lf", &node, &axis, &value) == 3;
        const char* later = "$ns_ at %lf \"$node_(%u) set %c_ %lf\"";
        if (!isFirst && std::sscanf(line.c_str(), later, &seconds, &node, &axis, &value) != 4)
        {
            Refuse(std::string("cannot read in ") + path + ": " + line);
        }
        const auto time = int64_t(std::llround(seconds * 1e9));
        auto found = motion.find(time);
        if (found == motion.end())
        {
            found = motion.emplace(time, motion.rbegin()->second).first;
        }
        found->second.at(size_t{node} * 3 + size_t(axis - 'X')) = value;
    }
    return motion;
}

std::vector<Transmission>
ReadTraffic(const char* path)
{
    std::vector<Transmission> traffic;
    std::ifstream file(path);
    for (Transmission t; file >> t.packet >> t.time >> t.source >> t.destination >> t.size;)
    {
        traffic.push_back(t);
    }
    return traffic;
}

class Player
{
  public:
    Player(Network& network, std::map<int64_t, Places> motion, std::vector<Transmission> traffic, int64_t duration)
        : m_network(network),
          m_motion(std::move(motion)),
          m_traffic(std::move(traffic)),
          m_duration(duration),
          m_next(m_motion.begin())
    {
    }

    // Everyone moves; what is sent before they move again is known.
    void Move()
    {
        if (m_next == m_motion.end() || m_next->first >= m_duration)
        {
            ns3::Simulator::Stop();
            return;
        }
        m_network.MoveTo(m_next->second.data());
        ++m_next;
        const int64_t until = m_next == m_motion.end() ? m_duration : std::min(m_next->first, m_duration);
        m_border.At(until, [this] { Move(); });
        for (; m_sent < m_traffic.size() && m_traffic[m_sent].time < until; ++m_sent)
        {
            m_network.Schedule(m_traffic[m_sent], nullptr);
        }
    }

  private:
    Network& m_network;
    std::map<int64_t, Places> m_motion;
    std::vector<Transmission> m_traffic;
    int64_t m_duration;
    std::map<int64_t, Places>::const_iterator m_next;
    size_t m_sent = 0;
    Border m_border;
};

} // namespace

int
main(int argc, char** argv)
{
    if (argc != 6)
    {
        Refuse("usage: replay DESCRIPTION MOTION TRAFFIC DURATION_NS ARRIVALS");
    }
    const std::string description = ReadAll(argv[1]);
    std::unique_ptr<Network> network;
    if (const auto problem = MakeNetwork(description, network); !problem.empty())
    {
        Refuse(problem);
    }
    Player player(*network, ReadMotion(argv[2], network->Nodes()), ReadTraffic(argv[3]), std::atoll(argv[4]));
    const std::clock_t began = std::clock();
    player.Move();
    ns3::Simulator::Run();
    std::cout << double(std::clock() - began) / CLOCKS_PER_SEC << std::endl;
    std::ofstream arrivals(argv[5]);
    for (const auto& event : network->TakeEvents(ns3::Simulator::Now().GetNanoSeconds()))
    {
        if (event.kind == ARRIVED)
        {
            arrivals << event.packet << ' ' << event.time << ' ' << event.node << ' ' << event.hops << '\n';
        }
    }
    network->End();
    network.reset();
    ns3::Simulator::Destroy();
    arrivals.close();
    return arrivals ? 0 : 1;
}
