require "pilot"

describe "Pilot" do
  it "steers" do
    expect(Pilot.new.steer).to be
  end

  it "halts" do
    expect(Pilot.new.halt).to eq 0
  end

  it "reads a chart" do
    expect(Pilot.on(1)).to be
  end
end
