import type { MovementBody } from '../../contract/discovery.ts'
import type { LocationReference } from '../../contract/locations.ts'
import type { ConflictType, deviceTypes, QueueStatus } from '../../contract/values.ts'
import { maskSecrets } from '../access/secrets.ts'
import { isDeeper, maxJsonDepth } from '../json.ts'
import { directionOverrides } from '../text.ts'

export type { ConflictType, QueueStatus } from '../../contract/values.ts'

/** `reopen` sets the status back to pending. */
export const nextStatuses: Record<QueueStatus, readonly QueueStatus[]> = {
  pending: ['approved', 'rejected', 'duplicate'],
  approved: ['imported', 'duplicate'],
  rejected: ['pending'],
  duplicate: ['pending'],
  imported: [],
}

/** A device that is waiting for review. */
export interface QueueEntry {
  readonly id: number
  readonly manufacturer: string
  /** See `identityKey`. There is one entry per key. */
  readonly identity_key: string
  readonly api_device_id: string
  readonly serial_number: string | null
  readonly mac_address: string | null
  readonly ip: string | null
  readonly device_type: (typeof deviceTypes)[number]
  readonly status: QueueStatus
  readonly conflict_type: ConflictType
  readonly is_duplicate: boolean
  readonly is_ip_conflict: boolean
  readonly existing_device: number | null
  readonly discovered_at: number
  readonly metadata: unknown
}

export interface ReviewedEntry extends QueueEntry {
  /** From the last stored report of the device; null if none was stored. */
  readonly name: string | null
  readonly model: string | null
  /** Null until the entry is reviewed. */
  readonly reviewed_by: string | null
  readonly reviewed_at: number | null
}

export interface Movement {
  readonly id: number
  readonly device: number
  readonly old_ip: string | null
  readonly new_ip: string | null
  readonly movement_type: MovementBody['movement_type']
  readonly detected_at: number
  readonly detected_by: MovementBody['detected_by']
  readonly reason: string
  /** Number of times that the movement was detected before it was acknowledged. */
  readonly times_seen: number
  readonly acknowledged: boolean
}

export interface MovementDetails extends Movement {
  readonly receiver: { readonly id: number; readonly name: string; readonly serial_number: string | null }
  readonly manufacturer: string
  readonly old_location: LocationReference | null
  readonly new_location: LocationReference | null
  readonly acknowledged_by: string | null
}

/** A device that a scan found and that was not a known receiver at the time. */
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
  /**
   * The address to enter in the configuration to monitor the device individually; null if a system reported the device.
   */
  readonly address: string | null
}

/** Counts from the last scan that found the device. */
export const discoveredRetentionMs = 24 * 60 * 60_000

const maxMetadataChars = 64 * 1024

/**
 * Removes secrets and control characters from upstream metadata. Returns null for metadata that is too large or too
 * deeply nested. Every supported database can store the result.
 */
export function boundMetadata(metadata: unknown): unknown {
  const text = isDeeper(metadata, maxJsonDepth) ? null : JSON.stringify(metadata ?? null)
  if (text === null || text.length > maxMetadataChars) return { truncated: true }
  return maskSecrets(
    JSON.parse(text, (_key, value) => (typeof value === 'string' ? removeControlCharacters(value) : value)),
  )
}

function removeControlCharacters(text: string): string {
  return text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .replace(directionOverrides, '')
}
