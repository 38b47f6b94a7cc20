require "json"

class Pilot
  def steer
    JSON.generate(course: 1)
  end

  # From a chart.
  def self.on(chart)
    new
  end
end
