require "pilot"

describe "Pilot" do
  it "steers" do
    expect(Pilot.new.steer).to be
  end

  it "reads a chart" do
    expect(Pilot.on(1)).to be
  end
end
