// What is on the air: counts of frames, for the report.
#pragma once

#include "ns3/nstime.h"
#include "ns3/wifi-phy.h"
#include "ns3/wifi-psdu.h"

#include <cstdint>
#include <sstream>
#include <string>

namespace robonet
{

class Air
{
  public:
    explicit Air(bool isFiveGigahertz)
        : m_band(isFiveGigahertz ? ns3::WIFI_PHY_BAND_5GHZ : ns3::WIFI_PHY_BAND_2_4GHZ)
    {
    }

    void HandleFrame(ns3::WifiConstPsduMap psdus, ns3::WifiTxVector vector, double)
    {
        for (const auto& [station, psdu] : psdus)
        {
            const auto& header = psdu->GetHeader(0);
            m_airtime += ns3::WifiPhy::CalculateTxDuration(psdu, vector, m_band);
            if (header.IsCtl())
                ++m_answers;
            else if (header.GetAddr1().IsGroup())
                ++m_broadcasts;
            else
                ++m_unicasts;
            m_retries += header.IsRetry();
        }
    }

    // As robonet's own `wifi` names them.
    std::string Report(uint64_t events) const
    {
        std::ostringstream json;
        json.precision(12);
        json << "{\"frames\": " << m_unicasts + m_broadcasts + m_answers << ", \"unicast_frames\": " << m_unicasts
             << ", \"broadcast_frames\": " << m_broadcasts << ", \"answer_frames\": " << m_answers
             << ", \"retries\": " << m_retries << ", \"airtime_s\": " << m_airtime.GetSeconds()
             << ", \"events\": " << events << "}";
        return json.str();
    }

  private:
    ns3::WifiPhyBand m_band;
    uint64_t m_unicasts = 0;
    uint64_t m_broadcasts = 0;
    uint64_t m_answers = 0; // RTS, CTS, ACK
    uint64_t m_retries = 0;
    ns3::Time m_airtime;
};

} // namespace robonet
