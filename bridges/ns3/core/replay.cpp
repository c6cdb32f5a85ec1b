// A recorded run again, in ns-3 alone: the network of a description, motion and traffic from files, one Simulator::Run.
//
//   replay DESCRIPTION MOTION TRAFFIC ARRIVALS
//
// DESCRIPTION  as config.h reads it
// MOTION       "step_ns N" and "steps N", then for each step one line "x y z" a node
// TRAFFIC      a line a packet: number, time in ns, source, destination, bytes; sorted by time
// ARRIVALS     is written: a line an arrival: packet, time in ns, receiver, hops

#include "network.h"

#include <cstdio>
#include <fstream>
#include <iostream>

using namespace robonet;

namespace
{

std::string
ReadAll(const char* path)
{
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

struct Recording
{
    int64_t stepNs = 0;
    uint32_t steps = 0;
    std::vector<double> positions;
    std::vector<Transmission> traffic;
};

Recording
Read(const char* motion, const char* traffic, uint32_t nodes)
{
    Recording recording;
    std::ifstream moves(motion);
    std::string word;
    moves >> word >> recording.stepNs >> word >> recording.steps;
    recording.positions.resize(size_t{recording.steps} * nodes * 3);
    for (auto& coordinate : recording.positions)
    {
        moves >> coordinate;
    }
    std::ifstream sends(traffic);
    for (Transmission t; sends >> t.packet >> t.time >> t.source >> t.destination >> t.size;)
    {
        recording.traffic.push_back(t);
    }
    if (!moves || recording.stepNs < 1)
    {
        std::cerr << "replay: cannot read " << motion << std::endl;
        std::exit(2);
    }
    return recording;
}

class Player
{
  public:
    Player(Network& network, const Recording& recording, uint32_t nodes)
        : m_network(network),
          m_recording(recording),
          m_nodes(nodes)
    {
    }

    // The next step: everyone moves, and what is sent in it is known.
    void Step()
    {
        if (m_step == m_recording.steps)
        {
            ns3::Simulator::Stop();
            return;
        }
        m_network.MoveTo(m_recording.positions.data() + size_t{m_step} * m_nodes * 3);
        ++m_step;
        m_border.At(m_step * m_recording.stepNs, [this] { Step(); });
        const auto& traffic = m_recording.traffic;
        for (; m_sent < traffic.size() && traffic[m_sent].time < m_step * m_recording.stepNs; ++m_sent)
        {
            m_network.Schedule(traffic[m_sent], nullptr);
        }
    }

  private:
    Network& m_network;
    const Recording& m_recording;
    uint32_t m_nodes;
    int64_t m_step = 0;
    size_t m_sent = 0;
    Border m_border;
};

} // namespace

int
main(int argc, char** argv)
{
    if (argc != 5)
    {
        std::cerr << "usage: replay DESCRIPTION MOTION TRAFFIC ARRIVALS" << std::endl;
        return 2;
    }
    const std::string description = ReadAll(argv[1]);
    Config config;
    Parse(description, config);
    const Recording recording = Read(argv[2], argv[3], config.nodes);
    std::unique_ptr<Network> network;
    if (const auto problem = MakeNetwork(description, network); !problem.empty())
    {
        std::cerr << "replay: " << problem << std::endl;
        return 2;
    }
    Player player(*network, recording, config.nodes);
    player.Step();
    ns3::Simulator::Run();
    std::ofstream arrivals(argv[4]);
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
