// A gRPC client that is configured over xDS. It speaks the lines of test/e2e/clients/README.md.
import com.google.common.io.ByteStreams;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class Client {
  private static final MethodDescriptor.Marshaller<byte[]> BYTES =
      new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
          return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
          try {
            return ByteStreams.toByteArray(stream);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        }
      };

  private static final MethodDescriptor<byte[], byte[]> ECHO =
      MethodDescriptor.newBuilder(BYTES, BYTES)
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName("echo.Echo/Echo")
          .build();

  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** The calls to one target, at a rate, until it is stopped. */
  private static final class Load {
    private record Failure(String code, String text) {}

    private final ManagedChannel channel;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    private final long deadlineMs;
    private final Map<String, Integer> ok = new LinkedHashMap<>();
    private final Map<Failure, Integer> failed = new LinkedHashMap<>();
    private String last = "";
    private int inFlight = 0;
    private boolean stopped = false;

    Load(String target, double rate, long deadlineMs) {
      this.deadlineMs = deadlineMs;
      channel = Grpc.newChannelBuilder("xds:///" + target, InsecureChannelCredentials.create()).build();
      clock.scheduleAtFixedRate(this::call, 0, (long) (1_000_000 / rate), TimeUnit.MICROSECONDS);
    }

    private void call() {
      synchronized (this) {
        if (stopped || inFlight >= 256) return;
        inFlight += 1;
      }
      CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(deadlineMs, TimeUnit.MILLISECONDS);
      ClientCalls.asyncUnaryCall(
          channel.newCall(ECHO, options),
          new byte[0],
          new StreamObserver<byte[]>() {
            @Override
            public void onNext(byte[] value) {
              succeeded(new String(value, StandardCharsets.UTF_8));
            }

            @Override
            public void onError(Throwable error) {
              failed(Status.fromThrowable(error));
            }

            @Override
            public void onCompleted() {
              ended();
            }
          });
    }

    private synchronized void succeeded(String backend) {
      if (stopped) return;
      last = backend;
      ok.merge(backend, 1, Integer::sum);
    }

    private synchronized void failed(Status status) {
      inFlight -= 1;
      if (stopped) return;
      last = status.getCode().name();
      Failure key = new Failure(last, status.getDescription() == null ? "" : status.getDescription());
      if (failed.containsKey(key) || failed.size() < 100) failed.merge(key, 1, Integer::sum);
    }

    private synchronized void ended() {
      inFlight -= 1;
    }

    synchronized JsonObject report() {
      JsonObject counts = new JsonObject();
      ok.forEach(counts::addProperty);
      JsonArray failures = new JsonArray();
      failed.forEach(
          (key, count) -> {
            JsonObject failure = new JsonObject();
            failure.addProperty("code", key.code());
            failure.addProperty("text", key.text());
            failure.addProperty("count", count);
            failures.add(failure);
          });
      JsonObject report = new JsonObject();
      report.add("ok", counts);
      report.add("failed", failures);
      report.addProperty("last", last);
      return report;
    }

    void stop() {
      synchronized (this) {
        stopped = true;
      }
      clock.shutdownNow();
      channel.shutdownNow();
    }
  }

  public static void main(String[] args) throws IOException {
    Map<String, Load> loads = new LinkedHashMap<>();
    JsonObject ready = new JsonObject();
    ready.addProperty("ready", true);
    ready.addProperty("client", "grpc-java");
    ready.addProperty("version", io.grpc.internal.GrpcUtil.getGrpcBuildVersion().getImplementationVersion());
    OUT.println(ready);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonObject command = JsonParser.parseString(line).getAsJsonObject();
      String verb = command.get("do").getAsString();
      JsonObject answer = new JsonObject();
      answer.add("id", command.get("id"));
      switch (verb) {
        case "add" -> {
          String target = command.get("target").getAsString();
          loads.put(
              target, new Load(target, command.get("rate").getAsDouble(), command.get("deadlineMs").getAsLong()));
        }
        case "remove" -> {
          Load load = loads.remove(command.get("target").getAsString());
          if (load != null) load.stop();
        }
        case "report" -> {
          JsonObject targets = new JsonObject();
          loads.forEach((name, load) -> targets.add(name, load.report()));
          answer.add("targets", targets);
        }
        case "quit" -> {}
        default -> answer.addProperty("error", "unknown command " + verb);
      }
      OUT.println(answer);
      if (verb.equals("quit")) break;
    }
    System.exit(0);
  }

  private Client() {}
}
