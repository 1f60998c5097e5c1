/** Audio streams. */

import type { Generated } from 'kysely'
import type { StreamEncoding, StreamSource } from '../../domain/audio/audio-stream.ts'
import type { Flag } from './flag.ts'

export interface AudioTables {
  audio_streams: AudioStreamRow
  audio_listeners: AudioListenersRow
}

export interface AudioListenersRow {
  /** The process in which they listen. */
  node: string
  /** JSON. */
  listeners: string
}

export interface AudioStreamRow {
  id: Generated<number>
  /** Identifies a stream that was found, or a program; null for one entered by hand. */
  key: string | null
  name: string
  source: StreamSource
  interface: string | null
  encoding: StreamEncoding
  sample_rate: number
  channels: number
  /** Null to accept any. */
  payload_type: number | null
  /** JSON. */
  labels: string
  /** JSON: where the packets arrive; empty for a program. */
  legs: string
  device: string | null
  origin: string | null
  enabled: Flag
  /** 1 if a person has changed the name, which announcements then leave alone. */
  is_edited: Flag
  version: number
}
