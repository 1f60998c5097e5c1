/** The review queue and the movement log: what they hold, which status may follow which. */

import { isDeeper, maxJsonDepth } from './json.ts'
import type { LocationReference } from './location.ts'
import { maskSecrets } from './secrets.ts'

export const conflictTypes = ['ip_changed', 'ip_conflict', 'hardware_changed', 'manufacturer_mismatch'] as const
export type ConflictType = (typeof conflictTypes)[number]

export const queueStatuses = ['pending', 'approved', 'rejected', 'imported', 'duplicate'] as const
export type QueueStatus = (typeof queueStatuses)[number]

/** Which status may follow which; `reopen` leads back to pending. */
export const nextStatuses: Record<QueueStatus, readonly QueueStatus[]> = {
  pending: ['approved', 'rejected', 'duplicate'],
  approved: ['imported', 'duplicate'],
  rejected: ['pending'],
  duplicate: ['pending'],
  imported: [],
}

/** A device that waits for an administrator's word. */
export interface QueueEntry {
  readonly id: number
  readonly manufacturer: string
  /** Says which device it is, whatever else changes: see `identityKey`. One entry a key. */
  readonly identity_key: string
  readonly api_device_id: string
  readonly serial_number: string | null
  readonly mac_address: string | null
  readonly ip: string | null
  readonly device_type: 'receiver' | 'transmitter'
  readonly status: QueueStatus
  readonly conflict_type: ConflictType
  readonly is_duplicate: boolean
  readonly is_ip_conflict: boolean
  readonly existing_device: number | null
  readonly discovered_at: number
  readonly metadata: unknown
}

/** As the administrators' list shows it. */
export interface ReviewedEntry extends QueueEntry {
  /** As the device was last told of; null where that was not kept. */
  readonly name: string | null
  readonly model: string | null
  /** The reviewer's name; null while nobody has decided. */
  readonly reviewed_by: string | null
  readonly reviewed_at: number | null
}

export type MovementType = 'ip_only' | 'location_only' | 'ip_and_location'

/** A receiver that was found at another address or place. */
export interface Movement {
  readonly id: number
  readonly device: number
  readonly old_ip: string | null
  readonly new_ip: string | null
  readonly movement_type: MovementType
  readonly detected_at: number
  readonly detected_by: 'sync' | 'manual'
  readonly reason: string
  /** How often the same movement was seen while it stood unacknowledged. */
  readonly times_seen: number
  readonly acknowledged: boolean
}

/** As the lists show it. */
export interface MovementDetails extends Movement {
  readonly receiver: { readonly id: number; readonly name: string; readonly serial_number: string | null }
  readonly manufacturer: string
  readonly old_location: LocationReference | null
  readonly new_location: LocationReference | null
  /** The name of whoever did. */
  readonly acknowledged_by: string | null
}

/** Found by a scan, and not a receiver when it was. */
export interface DiscoveredRecord {
  readonly id: number
  readonly manufacturer: string
  readonly api_device_id: string
  readonly serial_number: string | null
  readonly mac_address: string | null
  readonly ip: string
  readonly device_type: string
  readonly channels: number
  readonly discovered_at: number
  readonly last_seen: number
  readonly model: string | null
  /** Where the device speaks for itself, as a configuration names it; null where a system told of it. */
  readonly address: string | null
}

/** A device that no scan has found for so long is forgotten. */
export const discoveredRetentionMs = 24 * 60 * 60_000

const maxMetadataChars = 64 * 1024

/**
 * What an upstream said of a device, without secrets and control characters, if it is of a size and depth worth keeping:
 * the same on every database.
 */
export function boundMetadata(metadata: unknown): unknown {
  const text = isDeeper(metadata, maxJsonDepth) ? null : JSON.stringify(metadata ?? null)
  if (text === null || text.length > maxMetadataChars) return { truncated: true }
  return maskSecrets(JSON.parse(text, (_key, value) => (typeof value === 'string' ? plainText(value) : value)))
}

function plainText(text: string): string {
  return text.toWellFormed().replace(/\p{Cc}+/gu, ' ')
}
