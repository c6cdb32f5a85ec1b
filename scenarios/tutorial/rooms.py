"""An eye above two rooms: it circles and looks for red lights."""

import math

import robonet


class Watch(robonet.Controller):
    def start(self, radius_m=2.0, height_m=2.0):
        self.radius_m, self.height_m = radius_m, height_m
        self.seen = 0

    def step(self):
        angle = 0.2 * self.time_s
        x, y = self.radius_m * math.cos(angle), 0.5 * self.radius_m * math.sin(angle)
        self.quadrotor_position.fly_to(x, y, self.height_m, angle)
        self.seen = max(self.seen, len(self.camera.blobs))
