/** Messages, and the objects with which services send them. */

import type { SendKit } from '../../../src/alerts/services/service.ts'
import type { AlertBody } from '../../../src/contract/alerts.ts'
import { noData } from '../../../src/domain/alerts/alert.ts'
import type { NotificationMessage } from '../../../src/domain/notifications/message.ts'
import { createDestinations } from '../../../src/upstream/destinations.ts'
import { buildAlert } from '../builders.ts'

export function buildKit(fields: Partial<SendKit> = {}): SendKit {
  return {
    destinations: createDestinations(),
    signal: new AbortController().signal,
    publicUrl: null,
    signingSecrets: [],
    now: Date.now,
    ...fields,
  }
}

export function buildMessage(fields: Partial<NotificationMessage> = {}): NotificationMessage {
  return {
    id: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
    type: 'alert.raised',
    created_at: Date.parse('2026-11-20T19:00:00.500Z'),
    alerts: [buildAlertOf('Nora', { battery: 9, slot: 7 })],
    more: 0,
    ...fields,
  }
}

/** Builds a critical alert about a transmitter with this name. */
export function buildAlertOf(name: string, data: Partial<AlertBody['data']> = {}): AlertBody {
  const severity = 'critical'
  return buildAlert({
    kind: 'battery_critical',
    severity,
    message: `${name}: battery`,
    data: { ...noData, name, ...data },
  })
}
