// NetAnim's XML, apart from the core: it knows every kind of device, and brings half of ns-3 with it.

#include "ns3/animation-interface.h"

#include <cstdint>
#include <memory>

namespace robonet
{

inline std::unique_ptr<ns3::AnimationInterface>&
TheAnimation()
{
    static std::unique_ptr<ns3::AnimationInterface> animation;
    return animation;
}

} // namespace robonet

extern "C"
{
    // After the nodes are there; the address of the file's name, or 0 to close it. Answers 0.
    uint64_t robonet_ns3_animate(uint64_t file)
    {
        auto& animation = robonet::TheAnimation();
        animation.reset();
        if (file != 0)
        {
            animation = std::make_unique<ns3::AnimationInterface>(reinterpret_cast<const char*>(file));
        }
        return 0;
    }

    uint64_t robonet_ns3_animation_functions[] = {
        reinterpret_cast<uint64_t>(&robonet_ns3_animate),
    };
}
