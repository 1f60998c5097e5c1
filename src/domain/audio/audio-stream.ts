/** A stream of audio channels that Micwatch can receive. */

export const streamSources = ['sap', 'manual', 'rtsp', 'nmos', 'command'] as const
export type StreamSource = (typeof streamSources)[number]

/** Streams of these are found on the network. */
export const searchSources = ['sap', 'rtsp', 'nmos'] as const
export type SearchSource = (typeof searchSources)[number]

export const streamEncodings = ['L16', 'L24'] as const
export type StreamEncoding = (typeof streamEncodings)[number]

/** Samples that a program writes: signed, little-endian. */
export const sampleFormats = ['s16le', 's24le', 's32le'] as const
export type SampleFormat = (typeof sampleFormats)[number]

export const maxStreamChannels = 64
/** Hz. */
export const streamRates: readonly number[] = [44_100, 48_000, 88_200, 96_000]

export interface StreamFormat {
  readonly encoding: StreamEncoding
  /** Hz. */
  readonly sample_rate: number
  readonly channels: number
}

/** Where packets arrive. With redundancy (ST 2022-7), a stream has two. */
export interface StreamLeg {
  /** A multicast group, or an address of this machine. */
  readonly address: string
  readonly port: number
  /** Senders; empty for any (RFC 4570). */
  readonly senders: readonly string[]
}

export interface StoredStream extends StreamFormat {
  readonly id: number
  /** Identifies a stream that was found, or a program; null for one entered by hand. */
  readonly key: string | null
  readonly name: string
  readonly source: StreamSource
  /** Name or address of the interface on which it is received; null for all that are configured. */
  readonly interface: string | null
  /** Null to accept any. */
  readonly payload_type: number | null
  /** One for each channel, or none. */
  readonly labels: readonly string[]
  /** Empty for a program. */
  readonly legs: readonly StreamLeg[]
  /** The name of the device in the announcement, if it has one. */
  readonly device: string | null
  /** The address of the device in the announcement. */
  readonly origin: string | null
  readonly enabled: boolean
  /** True if a person has changed it: announcements then leave the name alone. */
  readonly is_edited: boolean
  readonly version: number
}

/** The fields of a stream that its source may not have. */
export const newStream = {
  key: null,
  interface: null,
  payload_type: null,
  labels: [],
  legs: [],
  device: null,
  origin: null,
  enabled: true,
  is_edited: false,
} as const

export interface AudioStream extends StoredStream {
  /** IPv4 address of the group or of this machine; null for a program. */
  readonly address: string | null
  readonly port: number | null
  /** False if it was found and is no longer announced. True for streams that are not announced at all. */
  readonly announced: boolean
  readonly status: StreamStatus
}

export interface StreamStatus {
  /** Includes duplicates. */
  readonly packets: number
  readonly lost: number
  readonly reordered: number
  /** How often the sender began again with new sequence numbers or a new SSRC. */
  readonly restarts: number
  /** RFC 3550, A.8. */
  readonly jitter_ms: number
  /** Seconds; null before the first packet. */
  readonly last_packet_age: number | null
  /** Peak of each channel in the last second in dBFS; null while the stream is not received. */
  readonly levels: readonly number[] | null
  readonly error: string | null
}

export const idleStatus: StreamStatus = {
  packets: 0,
  lost: 0,
  reordered: 0,
  restarts: 0,
  jitter_ms: 0,
  last_packet_age: null,
  levels: null,
  error: null,
}
