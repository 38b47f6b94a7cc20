require "json"

class Pilot
  def steer
    JSON.generate(course: 1)
  end

  def halt
    0
  end

  # From a chart.
  def self.on(chart)
    new
  end
end
