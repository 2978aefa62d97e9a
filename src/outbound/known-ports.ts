/**
 * Ports of services that do not speak HTTP, or speak it without asking who is there. A POST to them may do harm that a
 * callback never does: the list that browsers keep for the same reason (Fetch standard, "bad port"), and stores, queues and
 * control planes that stand in inner networks.
 */
const BROWSERS: readonly number[] = [
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123,
  135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995,
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

const INNER: readonly number[] = [
  445, // SMB
  873, // rsync
  1433, // SQL Server
  1521, // Oracle
  1883, // MQTT
  2181, // ZooKeeper
  2375, // Docker
  2376, // Docker, TLS
  2379, // etcd
  2380, // etcd, peers
  3306, // MySQL
  3389, // RDP
  4369, // Erlang's port mapper
  5432, // PostgreSQL
  5671, // AMQP, TLS
  5672, // AMQP
  5900, // VNC
  5984, // CouchDB
  5985, // WinRM
  5986, // WinRM, TLS
  6379, // Redis
  6443, // Kubernetes
  7000, // Cassandra
  8086, // InfluxDB
  8500, // Consul
  9042, // Cassandra
  9092, // Kafka
  9200, // Elasticsearch
  9300, // Elasticsearch, nodes
  10250, // kubelet
  11211, // memcached
  27017, // MongoDB
  50000, // DB2
];

const ports: ReadonlySet<number> = new Set([...BROWSERS, ...INNER]);

export const isKnownServicePort = (port: number): boolean => ports.has(port);
