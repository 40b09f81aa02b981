import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/**
 * Starts a throw-away Neo4j server: {@code java -cp CLASSPATH Launcher HOME neo4j.conf [keep]}
 *
 * <p>The server lives until its standard input closes or it gets a signal; then it stops and
 * removes HOME, unless it is told to keep it. Standard input is the life line to the process that started it: the operating
 * system closes it however that process ends, SIGKILL included.
 */
public final class Launcher {
    public static void main(String[] args) throws IOException {
        Path home = Path.of(args[0]).toAbsolutePath();
        DatabaseManagementService server =
                new DatabaseManagementServiceBuilder(home)
                        .loadPropertiesFromFile(Path.of(args[1]))
                        .build();
        boolean keeps = args.length > 2;
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server, home, keeps)));
        while (System.in.read() != -1) {
            // Nothing is ever sent: only the end of the stream counts.
        }
        System.exit(0);
    }

    private static void stop(DatabaseManagementService server, Path home, boolean keeps) {
        try {
            server.shutdown();
            if (!keeps) {
                delete(home);
            }
        } catch (IOException problem) {
            System.err.println("left behind " + home + ": " + problem);
        }
    }

    private static void delete(Path root) throws IOException {
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes unused)
                    throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path folder, IOException unused)
                    throws IOException {
                Files.delete(folder);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
