/** The messages between the main thread and the worker thread that receives audio. */

import type { SampleFormat, SearchSource, StreamEncoding, StreamLeg } from '../domain/audio/audio-stream.ts'
import type { AudioFinding } from '../domain/audio/faults/finding.ts'
import type { HeldAudio } from '../domain/audio/held-sound.ts'
import type { StreamDescription } from '../domain/audio/sdp.ts'
import type { LocalAddress } from '../domain/identity/network.ts'

/** The properties of a stream that the worker uses. */
export interface ReceivedStream {
  readonly id: number
  readonly format: StreamEncoding | SampleFormat
  /** Hz. */
  readonly rate: number
  readonly channels: number
  /** Null to accept any. */
  readonly payloadType: number | null
  /** Empty for a program. */
  readonly legs: readonly StreamLeg[]
  /** Addresses of the interfaces on which groups are joined; empty to let the system choose. */
  readonly interfaces: readonly string[]
  /** The program and its arguments; null for a stream from the network. */
  readonly argv: readonly string[] | null
}

/** Hz. */
export type ListeningRate = 48_000 | 24_000

/** A listener or a held channel. Numbers are chosen by the main thread and never return. */
export interface ChannelUse {
  readonly use: number
  readonly streamId: number
  /** Counts from 1. */
  readonly channel: number
}

export type WorkerCall =
  /** Unix milliseconds of the main thread minus those of `performance.now()`. */
  | { readonly type: 'clock'; readonly offset: number }
  /** Listens to announcements on these interfaces. */
  | { readonly type: 'discover'; readonly interfaces: readonly LocalAddress[] }
  /** Adds a stream, or changes it. */
  | { readonly type: 'stream'; readonly stream: ReceivedStream }
  | { readonly type: 'remove'; readonly streamId: number }
  | { readonly type: 'meter'; readonly streamId: number }
  | ({ readonly type: 'listen'; readonly rate: ListeningRate } & ChannelUse)
  | ({ readonly type: 'hold' } & ChannelUse)
  | { readonly type: 'end'; readonly use: number }
  | { readonly type: 'discard'; readonly use: number }
  | {
      readonly type: 'read'
      readonly request: number
      readonly use: number
      readonly from: number
      readonly to: number
    }
  | { readonly type: 'close' }

export interface ReceivedStatus {
  readonly streamId: number
  readonly packets: number
  readonly lost: number
  readonly reordered: number
  readonly restarts: number
  readonly jitterMs: number
  readonly lastPacketAgeMs: number | null
  readonly levels: readonly number[] | null
  readonly error: string | null
}

/** Something that was announced and cannot be used, or a place that cannot be searched. */
export interface SearchProblem {
  /** The address that sent it, or that was searched. */
  readonly address: string
  readonly error: string
  readonly count: number
  /** Unix milliseconds. */
  readonly at: number
}

/** The search for announcements since it began. */
export interface SearchStatus {
  /** Packets received. */
  readonly received: number
  /** Packets that were not read, because too many arrived. */
  readonly discarded: number
  readonly problems: readonly SearchProblem[]
}

/** `sender` is the address that sent the packet, `interface` that on which it must have arrived, if it is known. */
export type Announcement = {
  readonly source: SearchSource
  readonly sender: string
  readonly interface: string | null
} & (
  | { readonly type: 'announcement'; readonly streams: readonly StreamDescription[] }
  | { readonly type: 'deletion'; readonly key: string }
)

export type WorkerEvent =
  | { readonly type: 'findings'; readonly use: number; readonly findings: readonly AudioFinding[] }
  | { readonly type: 'announced'; readonly announcement: Announcement }
  | { readonly type: 'searched'; readonly status: SearchStatus }
  | { readonly type: 'statuses'; readonly statuses: readonly ReceivedStatus[] }
  | {
      readonly type: 'frame'
      readonly use: number
      readonly sequence: number
      readonly at: number
      readonly samples: Int16Array
    }
  | { readonly type: 'read'; readonly request: number; readonly audio: HeldAudio | null }
  | { readonly type: 'warning'; readonly message: string }
