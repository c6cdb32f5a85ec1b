// Attributes by name, tried out where ns-3 may give up without harm: it aborts on many wrong values.
#pragma once

#include "ns3/config.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace robonet
{

using Attributes = std::vector<std::pair<std::string, std::string>>;

// Runs `work` in a child process; its answer, or what it wrote to stderr if it did not live to answer.
inline std::string
TryInChild(const std::function<std::string()>& work)
{
    int ends[2];
    if (pipe(ends) != 0)
    {
        return "cannot make a pipe";
    }
    const pid_t child = fork();
    if (child < 0)
    {
        close(ends[0]);
        close(ends[1]);
        return "cannot start a process to try the attributes in";
    }
    if (child == 0)
    {
        std::signal(SIGABRT, SIG_DFL);
        std::set_terminate(std::abort);
        dup2(ends[1], STDERR_FILENO);
        const std::string answer = work();
        const auto written = write(ends[1], answer.data(), answer.size());
        _exit(written == ssize_t(answer.size()) ? 0 : 1);
    }
    close(ends[1]);
    std::string said;
    char buffer[4096];
    for (ssize_t size; (size = read(ends[0], buffer, sizeof buffer)) > 0;)
    {
        said.append(buffer, size_t(size));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return said.empty() && status != 0 ? "ns-3 gave up without a word" : said;
}

// Why ns-3 did not take a default; the last line lists the names that it knows there.
inline std::string
WhyNot(const std::string& name, const std::string& value)
{
    const auto colons = name.rfind("::");
    const std::string message = "Could not set default value for " + name + ": "; // as Config::SetDefault says it
    ns3::TypeId type;
    const std::string typeName = colons == std::string::npos ? name : name.substr(0, colons);
    if (colons == std::string::npos || !ns3::TypeId::LookupByNameFailSafe(typeName, &type))
    {
        return message + "there is no TypeId '" + typeName + "'";
    }
    const std::string attribute = name.substr(colons + 2);
    std::string known;
    for (ns3::TypeId at = type;; at = at.GetParent())
    {
        for (std::size_t i = 0; i < at.GetAttributeN(); ++i)
        {
            const auto info = at.GetAttribute(i);
            if (info.name == attribute)
            {
                if (at != type)
                {
                    return message + "the attribute belongs to its parent, write " + at.GetName() + "::" + attribute;
                }
                return message + "'" + value + "' is no " + info.checker->GetValueTypeName() + " (" + info.help + ")";
            }
            known += (known.empty() ? "" : ", ") + at.GetName() + "::" + info.name;
        }
        if (!at.HasParent())
        {
            break;
        }
    }
    return message + "it has no attribute '" + attribute + "'\nknown: " + known;
}

inline bool
IsPath(const std::string& name)
{
    return name.rfind('/', 0) == 0;
}

// What is wrong with an attribute, or nothing: a default by name, or one of objects that are there by path.
inline std::string
SetAttribute(const std::string& name, const std::string& value)
{
    if (IsPath(name))
    {
        const bool isSet = ns3::Config::SetFailSafe(name, ns3::StringValue(value));
        return isSet ? "" : "Could not set " + name + " to '" + value + "': nothing there takes it";
    }
    return ns3::Config::SetDefaultFailSafe(name, ns3::StringValue(value)) ? "" : WhyNot(name, value);
}

inline std::string
SetDefaults(const Attributes& attributes)
{
    for (const auto& [name, value] : attributes)
    {
        if (auto problem = SetAttribute(name, value); !problem.empty())
        {
            return problem;
        }
    }
    return "";
}

// The same for attributes that a user gave, either those by name or those by path: ns-3 may abort over them.
inline std::string
SetCarefully(const Attributes& attributes, bool byPath)
{
    for (const auto& [name, value] : attributes)
    {
        if (IsPath(name) != byPath)
        {
            continue;
        }
        auto problem = TryInChild([&name = name, &value = value] { return SetAttribute(name, value); });
        if (!problem.empty())
        {
            const bool isTold = problem.rfind("Could not set", 0) == 0;
            return isTold ? problem : "Could not set " + name + " to '" + value + "': " + problem;
        }
        SetAttribute(name, value);
    }
    return "";
}

} // namespace robonet
