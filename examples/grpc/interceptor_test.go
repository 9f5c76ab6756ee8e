package interceptor

import (
	"context"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/chatguard/chatguard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// key identifies users by the metadata "key".
func key(ctx context.Context) (chatguard.User, error) {
	keys := metadata.ValueFromIncomingContext(ctx, "key")
	if len(keys) != 1 {
		return chatguard.User{}, status.Error(codes.Unauthenticated, "the key is missing")
	}
	return chatguard.User{ID: keys[0]}, nil
}

// service has a method that does nothing, and a stream that echoes.
var service = grpc.ServiceDesc{
	ServiceName: "Chat",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Say", Handler: func(_ any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		request := &emptypb.Empty{}
		if err := decode(request); err != nil {
			return nil, err
		}
		say := func(context.Context, any) (any, error) { return request, nil }
		return intercept(ctx, request, &grpc.UnaryServerInfo{FullMethod: "/Chat/Say"}, say)
	}}},
	Streams: []grpc.StreamDesc{{StreamName: "Talk", ClientStreams: true, ServerStreams: true, Handler: func(_ any, s grpc.ServerStream) error {
		for {
			if err := s.RecvMsg(&emptypb.Empty{}); err != nil {
				return err
			}
			if err := s.SendMsg(&emptypb.Empty{}); err != nil {
				return err
			}
		}
	}}},
}

// dial starts a server on loopback with these limits, and returns a connection to it.
func dial(t *testing.T, limits ...chatguard.Limit) *grpc.ClientConn {
	t.Helper()
	guard, err := chatguard.New(chatguard.Policy{Limits: limits}, nil)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(Unary(guard, key)), grpc.StreamInterceptor(Stream(guard, key)))
	server.RegisterService(&service, nil)
	served := make(chan error)
	go func() { served <- server.Serve(listener) }()
	client, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return client
}

// as returns the context of a call by the user.
func as(t *testing.T, user string) context.Context {
	return metadata.AppendToOutgoingContext(t.Context(), "key", user)
}

// retryDelay returns the delay in a status, or -1.
func retryDelay(err error) time.Duration {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return -1
}

func TestUnary(t *testing.T) {
	client := dial(t, chatguard.TokenBucketLimit("burst", 3, time.Hour))
	say := func(ctx context.Context) error {
		return client.Invoke(ctx, "/Chat/Say", &emptypb.Empty{}, &emptypb.Empty{})
	}
	for range 3 {
		if err := say(as(t, "anna")); err != nil {
			t.Fatal(err)
		}
	}
	err := say(as(t, "anna"))
	if delay := retryDelay(err); status.Code(err) != codes.ResourceExhausted || delay <= 0 || delay > time.Hour {
		t.Errorf("fourth call: %v, retry after %s", err, delay)
	}
	if err := say(as(t, "eve")); err != nil {
		t.Errorf("another user: %v", err)
	}
	if err := say(t.Context()); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without a key: %v", err)
	}
}

func TestStream(t *testing.T) {
	client := dial(t, chatguard.TokenBucketLimit("burst", 3, time.Hour))
	stream, err := client.NewStream(as(t, "anna"), &service.Streams[0], "/Chat/Talk")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if err := stream.SendMsg(&emptypb.Empty{}); err != nil {
			t.Fatal(err)
		}
		err := stream.RecvMsg(&emptypb.Empty{})
		if i < 3 && err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		if i == 3 && (status.Code(err) != codes.ResourceExhausted || retryDelay(err) <= 0) {
			t.Errorf("fourth message: %v, retry after %s", err, retryDelay(err))
		}
	}
}

// A delayed call is held until its deadline, if that comes first.
func TestUnary_Delayed(t *testing.T) {
	client := dial(t, chatguard.LeakyBucketLimit("pace", time.Hour, 2))
	if err := client.Invoke(as(t, "anna"), "/Chat/Say", &emptypb.Empty{}, &emptypb.Empty{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(as(t, "anna"), 50*time.Millisecond)
	defer cancel()
	if err := client.Invoke(ctx, "/Chat/Say", &emptypb.Empty{}, &emptypb.Empty{}); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a delayed call: %v", err)
	}
}
