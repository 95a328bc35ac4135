import com.unboundid.ldap.listener.InMemoryDirectoryServer;
import com.unboundid.ldap.listener.InMemoryDirectoryServerConfig;
import com.unboundid.ldap.listener.InMemoryListenerConfig;
import com.unboundid.ldap.listener.interceptor.InMemoryInterceptedAddResult;
import com.unboundid.ldap.listener.interceptor.InMemoryOperationInterceptor;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A directory with a thread for each connection; each thread has a log of what it added, and syncs it.
 * Usage: java -cp unboundid-ldapsdk.jar Durable.java FOLDER PORT
 */
public class Durable extends InMemoryOperationInterceptor {
    private static final AtomicInteger LOGS = new AtomicInteger();
    private final ThreadLocal<FileChannel> log;

    Durable(Path folder) {
        log = ThreadLocal.withInitial(() -> {
            try {
                return FileChannel.open(folder.resolve("log-" + LOGS.incrementAndGet()),
                    StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            } catch (java.io.IOException failed) {
                throw new java.io.UncheckedIOException(failed);
            }
        });
    }

    @Override
    public void processAddResult(InMemoryInterceptedAddResult added) {
        try {
            String entry = added.getRequest().toLDIFString();
            log.get().write(ByteBuffer.wrap(entry.getBytes(StandardCharsets.UTF_8)));
            log.get().force(true);
        } catch (java.io.IOException failed) {
            throw new java.io.UncheckedIOException(failed);
        }
    }

    public static void main(String[] argv) throws Exception {
        InMemoryDirectoryServerConfig config = new InMemoryDirectoryServerConfig("o=Intranet");
        config.setSchema(null);
        config.addInMemoryOperationInterceptor(new Durable(Path.of(argv[0])));
        config.setListenerConfigs(InMemoryListenerConfig.createLDAPConfig("ldap", null, Integer.parseInt(argv[1]), null));
        InMemoryDirectoryServer server = new InMemoryDirectoryServer(config);
        server.startListening();
        server.add("dn: o=Intranet", "objectClass: organization", "o: Intranet");
        server.add("dn: ou=Dynamic,o=Intranet", "objectClass: organizationalUnit", "ou: Dynamic");
        System.out.println("ready");
        Thread.currentThread().join();
    }
}
