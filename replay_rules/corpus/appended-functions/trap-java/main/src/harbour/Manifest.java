package harbour;

import java.util.ArrayList;
import java.util.List;

final class Manifest {
    private final List<String> lines = new ArrayList<>();

    void add(String line) {
        lines.add(line);
    }

    void add(String line, int times) {
        lines.add(line + times);
    }
}
