# ns-2's side of robonet: connects to the port given as argument, says the token of its environment, is told what to
# build, and then goes from border to border.
#
#   ns to robonet:   <token>                         once
#                    trace lines                     arrivals (r ... AGT), custody (r ... RTR) and drops (D ...)
#                    done <time>                     the border is reached; also when everything is built, at 0
#   robonet to ns:   <word> <value> ...              once: what to build
#                    step <until> <moves> <sends>    moves: node x y z ...; sends: time {source size destination ...} ...
#                    end
#
# The trace goes down the same socket as everything else, so that its lines come in order and before `done`.

set PORT 10              ;# of the agents
set JUMP_M_S 1e15        ;# positions are constant within a step: nodes jump at its beginning
set SETTLE_S 1e-9        ;# and are told a nanosecond later to notice

set link [socket 127.0.0.1 [lindex $argv 0]]
fconfigure $link -buffering full -buffersize 262144 -translation lf -encoding ascii
puts $link $env(ROBONET_NS2_TOKEN)
unset env(ROBONET_NS2_TOKEN)
flush $link

# The next line of robonet; when robonet is gone, so are we.
proc hear {} {
    global link
    if {[gets $link line] < 0} {
        exit 1
    }
    return $line
}

# --- building -----------------------------------------------------------------------------------------------

array set config [hear]

Phy/WirelessPhy set Pt_ $config(power_w)
Phy/WirelessPhy set RXThresh_ $config(receive_w)
Phy/WirelessPhy set CSThresh_ $config(sense_w)
Phy/WirelessPhy set CPThresh_ $config(capture)
Phy/WirelessPhy set freq_ $config(frequency_hz)
Phy/WirelessPhy set L_ $config(system_loss)
Antenna/OmniAntenna set Z_ $config(antenna_height_m)
Propagation/Shadowing set pathlossExp_ $config(exponent)
Propagation/Shadowing set dist0_ $config(reference_m)
Propagation/Shadowing set std_db_ 0.0
Mac/802_11 set dataRate_ $config(rate_bps)
Mac/802_11 set basicRate_ $config(broadcast_rate_bps)
Mac/802_11 set RTSThreshold_ $config(rts_threshold_bytes)
Mac/802_11 set ShortRetryLimit_ $config(short_retry_limit)
Mac/802_11 set LongRetryLimit_ $config(long_retry_limit)
Mac/802_11 set CWMin_ $config(cw_min)
Mac/802_11 set CWMax_ $config(cw_max)
Agent/MessagePassing set packetSize_ 65535

ns-random $config(seed)
set ns [new Simulator]
$ns trace-all $link
# Movements are ours: no need to be told of them.
Node/MobileNode instproc nodetrace {channel} {}

set topography [new Topography]
$topography load_flatgrid $config(width_m) $config(height_m)
create-god $config(nodes)
$ns node-config -adhocRouting $config(routing) -llType LL -macType Mac/802_11 \
    -ifqType Queue/DropTail/PriQueue -ifqLen $config(queue_packets) -antType Antenna/OmniAntenna \
    -propType $config(propagation) -phyType Phy/WirelessPhy -channel [new Channel/WirelessChannel] \
    -topoInstance $topography -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF

for {set i 0} {$i < $config(nodes)} {incr i} {
    # All have the power of the strongest and lose the rest in the antenna: ns-2 takes the reach of whoever sends
    # first for everyone's.
    Antenna/OmniAntenna set Gt_ [lindex $config(gains) $i]
    set node($i) [$ns node]
    $node($i) random-motion 0
    $node($i) set X_ 1.0
    $node($i) set Y_ 1.0
    $node($i) set Z_ 0.0
    set agent($i) [new Agent/MessagePassing]
    # As CBR: routing protocols repair its routes, and the trace shows its sequence numbers and hops.
    $agent($i) set_pkttype 2
    $node($i) attach $agent($i) $PORT
    # What arrives is traced and ends there.
    [$node($i) demux] install $PORT [$node($i) mobility-trace Recv AGT]
    # What is taken over to be forwarded is traced on its way to the routing agent.
    set custody [$node($i) mobility-trace Recv RTR]
    $custody target [$node($i) set ragent_]
    [$node($i) entry] defaulttarget $custody
    [$node($i) set mac_(0)] drop-target [$node($i) mobility-trace Drop MAC]
}

# --- stepping -----------------------------------------------------------------------------------------------

proc transmit {batch} {
    global agent PORT
    foreach {source size destination} $batch {
        $agent($source) sendto $size x $destination $PORT
    }
}

proc settle {moved} {
    global node
    foreach i $moved {
        $node($i) log-movement
    }
}

proc border {} {
    global ns link node JUMP_M_S SETTLE_S
    puts $link "done [$ns now]"
    flush $link
    lassign [hear] word until moves sends
    if {$word ne "step"} {
        exit 0
    }
    set now [$ns now]
    set moved {}
    foreach {i x y z} $moves {
        $node($i) set Z_ $z
        $node($i) setdest $x $y $JUMP_M_S
        lappend moved $i
    }
    if {[llength $moved]} {
        $ns at [expr {$now + $SETTLE_S}] [list settle $moved]
    }
    foreach {time batch} $sends {
        if {$time <= $now} {
            transmit $batch
        } else {
            $ns at $time [list transmit $batch]
        }
    }
    $ns at $until border
}

$ns at 0.0 border
$ns run
