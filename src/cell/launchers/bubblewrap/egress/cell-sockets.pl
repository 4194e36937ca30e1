# Opens sockets in the network namespaces of cells and hands them to the process that asks, which is Node: it can neither
# enter a namespace nor take sockets from anybody but a child that speaks as another Node would, on descriptor 3.
#
# Started as: perl cell-sockets.pl SETNS SENDMSG, the numbers of these system calls. Each line of input is a request:
#   ID PID FIRST SOCKET...
# with the process whose namespaces are meant, or the path of a network namespace, 1 where the namespace is new and needs its routes, and sockets such as
# tcp,*,443 or udp,*,53 or tcp,127.0.0.1,3128; all,*,0 takes the connections to every port of every address but those of
# the loopback. The process ends with its input.
use strict;
use warnings;

my ($setns, $sendmsg) = map { $_ + 0 } @ARGV;
my ($inet, $inet6, $netlink, $filters) = (2, 10, 16, 12);
my ($stream, $datagram, $raw) = (1, 2, 3);
my $channel = 3;
my $no_filter = "rules on every port, and an open network, need a kernel with nf_tables and tproxy";
$SIG{CHLD} = 'IGNORE';
$SIG{PIPE} = 'IGNORE';

open my $peer, '+<&=', $channel or die "no channel: $!";
my $pending = '';
while (1) {
  my $ready = '';
  vec($ready, fileno($_), 1) = 1 for \*STDIN, $peer;
  next if select($ready, undef, undef, undef) < 0;
  # Node acknowledges each socket; nobody waits for that, but it has to go somewhere.
  if (vec($ready, fileno $peer, 1)) { sysread($peer, my $ignored, 65536) or exit; }
  next unless vec($ready, fileno \*STDIN, 1);
  sysread(\*STDIN, $pending, 65536, length $pending) or exit;
  while ($pending =~ s/^([^\n]*)\n//) {
    my @request = split / /, $1;
    my $child = fork;
    next if $child;
    # A child of its own, because there is no way back out of a user namespace.
    my $done = defined $child && eval { answer(@request); 1 };
    my $reason = $done ? '' : defined $child ? $@ : "fork: $!";
    $reason =~ s/[^\x20-\x7e]|["\\]/ /g;
    report(sprintf '{"id":%d,"failed":"%s"}', $request[0], $reason) unless $done;
    exit if defined $child;
  }
}

sub answer {
  my ($id, $pid, $first, @sockets) = @_;
  enter($_) for $pid =~ m{^/} ? $pid : ("/proc/$pid/ns/user", "/proc/$pid/ns/net");
  make_all_addresses_local() if $first;
  for my $name (@sockets) {
    my ($kind, $address, $port) = split /,/, $name;
    my ($socket, $family) = open_socket($kind, $address, $port);
    my $type = $kind eq 'udp' ? 'dgram.Native' : 'net.Native';
    my $version = $family == $inet6 ? 6 : 4;
    my $message = qq({"id":$id,"socket":"$name","version":$version});
    hand_over(qq({"cmd":"NODE_HANDLE","type":"$type","msg":$message}), fileno $socket);
  }
  report(qq({"id":$id,"done":true}));
}

sub enter {
  my ($path) = @_;
  open my $namespace, '<', $path or die "$path: $!";
  syscall($setns, fileno $namespace, 0) == 0 or die "setns $path: $!";
}

# IPv6 sockets take IPv4 too. Where the kernel has no IPv6, there is none to take.
sub open_socket {
  my ($kind, $address, $port) = @_;
  my $type = $kind eq 'udp' ? $datagram : $stream;
  my ($socket, $family);
  if ($address eq '*' && socket($socket, $inet6, $type, 0)) { $family = $inet6; }
  else { socket($socket, $inet, $type, 0) or die "socket: $!"; $family = $inet; }
  if ($kind ne 'udp') { setsockopt($socket, 1, 2, 1) or die "SO_REUSEADDR: $!"; }
  if ($family == $inet6) { setsockopt($socket, 41, 26, 0) or die "IPV6_V6ONLY: $!"; }
  my $host = $address eq '*' ? "\0" x 4 : pack('C4', split /\./, $address);
  my $place = $family == $inet6 ? pack('Snx24', $inet6, $port) : pack('Sna4x8', $inet, $port, $host);
  bind($socket, $place) or die "bind $address port $port: $!";
  if ($kind ne 'udp') { listen($socket, 1024) or die "listen: $!"; }
  take_every_port($socket, $family) if $kind eq 'all';
  return ($socket, $family);
}

# Leads each connection to this socket, which sees the address and the port that it was made to. Without the socket the
# rules do nothing, so nobody has to remove them.
sub take_every_port {
  my ($socket, $family) = @_;
  my @transparent = $family == $inet6 ? (41, 75) : (0, 19);
  setsockopt($socket, $transparent[0], $transparent[1], 1) or die "IP_TRANSPARENT: $!";
  my $port = pack 'n', (unpack 'Sn', getsockname $socket)[1];
  my $table = attribute(1, "workcell\0");
  # At the beginning of a packet's way, before the kernel looks for a listener.
  my $hook = nested(4, attribute(1, pack 'N', 0), attribute(2, pack 'N', 0xffffff6a));
  my $chain = $table . attribute(3, "all\0") . $hook . attribute(7, "filter\0");
  my @messages;
  for my $version ($family == $inet6 ? ($inet, $inet6) : $inet) {
    # The place of the destination in the head of a packet, how much of it tells the loopback, and that.
    my ($offset, $length, $loopback) = $version == $inet ? (16, 1, pack 'C', 127) : (24, 16, pack 'x15C', 1);
    my $rule = nested(
      4,
      expression('meta', number(1, 1), number(2, 16)),
      expression('cmp', number(1, 1), number(2, 0), nested(3, attribute(1, pack 'C', 6))),
      expression('payload', number(1, 1), number(2, 1), number(3, $offset), number(4, $length)),
      expression('cmp', number(1, 1), number(2, 1), nested(3, attribute(1, $loopback))),
      expression('immediate', number(1, 1), nested(2, attribute(1, $port))),
      expression('tproxy', number(1, $version), number(3, 1)),
    );
    push @messages, [0x0a00, $version, $table], [0x0a03, $version, $chain],
      [0x0a06, $version, $table . attribute(2, "all\0") . $rule];
  }
  filter(@messages);
}

sub attribute { my ($type, $data) = @_; return pack('SS', 4 + length $data, $type) . $data . "\0" x (-length($data) % 4); }
sub nested { my ($type, @parts) = @_; return attribute($type | 0x8000, join '', @parts); }
sub number { my ($type, $value) = @_; return attribute($type, pack 'N', $value); }
sub expression { my ($name, @parts) = @_; return nested(1, attribute(1, "$name\0"), nested(2, @parts)); }

# Changes the packet filter, all of it or nothing (nf_tables).
sub filter {
  my @messages = @_;
  socket(my $kernel, $netlink, $raw, $filters) or die "$no_filter: $!";
  # The first and the last message name the part of the kernel that is meant.
  my ($begin, $end) = map { pack('ISSIICCn', 20, $_, 1, 0, 0, 0, 0, 10) } 16, 17;
  my $batch = $begin;
  $batch .= pack('ISSIICCn', 20 + length $_->[2], $_->[0], 0xc05, 1, 0, $_->[1], 0, 0) . $_->[2] for @messages;
  send($kernel, $batch . $end, 0) or die "$no_filter: $!";
  my $left = @messages;
  while ($left > 0) {
    sysread($kernel, my $replies, 65536) or die "$no_filter: $!";
    while (length $replies >= 20) {
      my ($length, $type, $error) = (unpack 'ISSIIi', $replies)[0, 1, 5];
      $! = -$error;
      die "$no_filter: $!" if $type == 2 && $error != 0;
      $left--;
      $replies = substr $replies, ($length + 3) & ~3;
    }
  }
}

sub report { syswrite $peer, "$_[0]\n"; }

# One message with the descriptor attached: struct msghdr and struct cmsghdr of a 64-bit Linux.
sub hand_over {
  my ($text, $descriptor) = @_;
  $text .= "\n";
  my $vector = pack('PQ', $text, length $text);
  my $control = pack('Qiiix4', 20, 1, 1, $descriptor);
  my $header = pack('QLx4PQPQix4', 0, 0, $vector, 1, $control, length $control, 0);
  my $sent = syscall($sendmsg, $channel, $header, 0);
  $sent == length $text or die "sendmsg: $!";
}

# Brings the loopback up and has every address lead to it, so that a listener sees all connections with the address that
# they were made to, and a port without one answers as a closed port does.
sub make_all_addresses_local {
  socket(my $kernel, $netlink, $raw, 0) or die "netlink: $!";
  my ($new_link, $new_route, $loopback, $up) = (16, 24, 1, 1);
  my ($acknowledge, $create) = (0x5, 0x605);
  ask($kernel, $new_link, $acknowledge, pack('CxSiII', 0, 0, $loopback, $up, $up)) and die "loopback: $!";
  for my $family ($inet, $inet6) {
    # Table local, by the administrator, for this host, of type local; through the loopback.
    my $route = pack('C8I', $family, 0, 0, 0, 255, 4, 254, 2, 0) . pack('SSI', 8, 4, $loopback);
    my $failed = ask($kernel, $new_route, $create, $route);
    die "route: $!" if $failed && $family == $inet;
  }
}

sub ask {
  my ($kernel, $type, $flags, $body) = @_;
  send($kernel, pack('ISSII', 16 + length $body, $type, $flags, 1, 0) . $body, 0) or die "netlink: $!";
  sysread($kernel, my $reply, 8192) or die "netlink: $!";
  my $error = (unpack 'ISSIIi', $reply)[5];
  $! = -$error;
  return $error;
}
