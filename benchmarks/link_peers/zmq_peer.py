"""Bare ZeroMQ: as many bytes each way as robonet's messages have, and nothing else.

PAIR sockets; DEALER and ROUTER measured the same within the noise.
"""

import zmq

from link_peers.traffic import message_sizes
from link_peers.turns import TURN_TIMEOUT_S, Job, Turns


def drive(job: Job, turns: Turns) -> None:
    data = bytes(message_sizes(job.robots).step)
    with zmq.Context() as context, context.socket(zmq.PAIR) as socket:
        socket.setsockopt(zmq.LINGER, 0)
        socket.connect(f"ipc://{job.folder}/link")
        socket.setsockopt(zmq.RCVTIMEO, round(TURN_TIMEOUT_S * 1000))
        for _ in range(job.total_steps):
            turns.tick()
            socket.send(data)
            socket.recv()
        turns.tick()


def answer(job: Job) -> None:
    data = bytes(message_sizes(job.robots).stepped)
    with zmq.Context() as context, context.socket(zmq.PAIR) as socket:
        socket.setsockopt(zmq.LINGER, 1000)
        socket.bind(f"ipc://{job.folder}/link")
        for _ in range(job.total_steps):
            socket.recv()
            socket.send(data)
