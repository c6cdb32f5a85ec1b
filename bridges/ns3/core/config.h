// What the network is to be like, as told by whoever drives it: text, one "key value" a line.
#pragma once

#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace robonet
{

struct Config
{
    uint32_t nodes = 0;
    uint32_t seed = 1;
    uint64_t run = 1;
    std::string standard = "802.11a";
    std::string channel;             // as WifiPhy::ChannelSettings wants it; empty: that of the standard
    std::vector<std::string> losses; // propagation loss models by name, the first one without dice
    std::string rateManager = "ns3::ConstantRateWifiManager";
    std::string errorRates = "ns3::TableBasedErrorRateModel";
    bool hasCapture = false;
    bool usesArp = false;
    std::string routing = "none";
    double leastDbm = -82; // of a link that routing over the true graph uses
    uint32_t maxHops = 64;
    int64_t floodingJitterNs = 0;
    uint32_t floodingMaxHops = 64;
    std::vector<double> txPowersDbm; // one a node
    std::vector<std::vector<uint32_t>> groups;
    std::vector<std::pair<std::string, std::string>> attributes;     // what the settings mean, by name
    std::vector<std::pair<std::string, std::string>> userAttributes; // what the user asks for, by name or path
    bool hasRadiotap = true;
    std::map<uint32_t, std::string> captures; // file by node
    std::string ascii;
    std::string flowMonitor;
};

// The rest of a line, which may hold spaces.
inline std::string
Rest(std::istringstream& words)
{
    std::string rest;
    std::getline(words >> std::ws, rest);
    return rest;
}

// Empty when all is well, else what is wrong.
inline std::string
Parse(const std::string& text, Config& config)
{
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line))
    {
        std::istringstream words(line);
        std::string key;
        words >> key;
        if (key.empty())
            continue;
        else if (key == "nodes")
            words >> config.nodes;
        else if (key == "seed")
            words >> config.seed;
        else if (key == "run")
            words >> config.run;
        else if (key == "standard")
            words >> config.standard;
        else if (key == "channel")
            words >> config.channel;
        else if (key == "loss")
            config.losses.push_back(Rest(words));
        else if (key == "rate_manager")
            words >> config.rateManager;
        else if (key == "error_rates")
            words >> config.errorRates;
        else if (key == "capture")
            words >> config.hasCapture;
        else if (key == "arp")
            words >> config.usesArp;
        else if (key == "routing")
            words >> config.routing;
        else if (key == "least_dbm")
            words >> config.leastDbm;
        else if (key == "max_hops")
            words >> config.maxHops;
        else if (key == "flooding_jitter_ns")
            words >> config.floodingJitterNs;
        else if (key == "flooding_max_hops")
            words >> config.floodingMaxHops;
        else if (key == "tx_powers_dbm")
            for (double power; words >> power;)
                config.txPowersDbm.push_back(power);
        else if (key == "group")
        {
            config.groups.emplace_back();
            for (uint32_t member; words >> member;)
                config.groups.back().push_back(member);
        }
        else if (key == "attribute" || key == "user_attribute")
        {
            std::string name;
            words >> name;
            auto& list = key == "attribute" ? config.attributes : config.userAttributes;
            list.emplace_back(name, Rest(words));
        }
        else if (key == "radiotap")
            words >> config.hasRadiotap;
        else if (key == "pcap")
        {
            uint32_t node = 0;
            words >> node;
            config.captures[node] = Rest(words);
        }
        else if (key == "ascii")
            config.ascii = Rest(words);
        else if (key == "flow_monitor")
            config.flowMonitor = Rest(words);
        else
            return "unknown key '" + key + "'";
        if (words.fail() && !words.eof())
            return "cannot read '" + line + "'";
    }
    if (config.nodes < 1 || config.txPowersDbm.size() != config.nodes || config.losses.empty())
        return "nodes, one transmit power a node and a propagation loss must be given";
    return "";
}

} // namespace robonet
