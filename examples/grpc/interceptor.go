// Package interceptor limits the calls of a gRPC server, and the messages of its streams.
//
//	server := grpc.NewServer(
//		grpc.UnaryInterceptor(interceptor.Unary(guard, identify)),
//		grpc.StreamInterceptor(interceptor.Stream(guard, identify)),
//	)
package interceptor

import (
	"context"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/chatguard/chatguard"
)

// Identify returns the user who makes a call, for example from the metadata in the context. The
// client gets its error, so it should be a gRPC status such as codes.Unauthenticated.
type Identify func(context.Context) (chatguard.User, error)

// Unary judges each call. Each method is a channel, with an allowance of its own. The status of a
// throttled call is ResourceExhausted with RetryInfo.
func Unary(guard *chatguard.Guard, identify Identify) grpc.UnaryServerInterceptor {
	pass := guard.Wrap(passed)
	return func(ctx context.Context, request any, call *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		user, err := identify(ctx)
		if err != nil {
			return nil, err
		}
		if err := statusOf(pass(ctx, chatguard.Message{ChannelID: call.FullMethod, User: user})); err != nil {
			return nil, err
		}
		return next(ctx, request)
	}
}

// Stream judges each message that a client sends in a stream. The handler's Recv returns the status
// of a throttled message. A handler that returns this status ends the stream; a handler that calls
// Recv again drops the message.
func Stream(guard *chatguard.Guard, identify Identify) grpc.StreamServerInterceptor {
	pass := guard.Wrap(passed)
	return func(server any, s grpc.ServerStream, call *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		user, err := identify(s.Context())
		if err != nil {
			return err
		}
		return next(server, &stream{s, pass, chatguard.Message{ChannelID: call.FullMethod, User: user}})
	}
}

// passed is called for allowed messages, after the delay of a leaky-bucket.
func passed(context.Context, chatguard.Message) error { return nil }

type stream struct {
	grpc.ServerStream
	pass    chatguard.MessageHandler
	message chatguard.Message
}

func (s *stream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return statusOf(s.pass(s.Context(), s.message))
}

// statusOf returns an error of a handler under Guard.Wrap as a gRPC status.
func statusOf(err error) error {
	throttled, ok := errors.AsType[*chatguard.ThrottledError](err)
	if !ok {
		return status.FromContextError(err).Err() // Unknown, if the context hasn't ended
	}
	s := status.New(codes.ResourceExhausted, "throttled by the limit "+throttled.Verdict.Limit)
	if throttled.Verdict.Never {
		return s.Err()
	}
	if detailed, err := s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(throttled.Verdict.RetryAfter)}); err == nil {
		s = detailed
	}
	return s.Err()
}
