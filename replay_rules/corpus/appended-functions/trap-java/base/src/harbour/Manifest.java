package harbour;

import java.util.ArrayList;
import java.util.List;

final class Manifest {
    private final List<String> lines = new ArrayList<>();

    void add(String line) {
        lines.add(line);
    }
}
