import type { NotificationMessage } from '../../domain/notifications/message.ts'
import { toTimestamp } from '../../domain/timestamp.ts'

/** The alerts are those at the time of the try; `type` and `timestamp` are the same at every try. */
export function toPayload({ type, created_at, alerts, more }: NotificationMessage) {
  return { type, timestamp: toTimestamp(created_at), data: { alerts, more } }
}

/** Serializes JSON without lone surrogates, which many programs reject. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, entry: unknown) => (typeof entry === 'string' ? entry.toWellFormed() : entry))
}
