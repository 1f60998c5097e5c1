import { describe, expect, it } from 'vitest'
import type { AlertBody } from '../../../src/contract/alerts.ts'
import { findChannelAlert } from './alerts.ts'

const receiverId = 1
const channelId = 12

function alert(id: number, over: Partial<AlertBody> = {}): AlertBody {
  return {
    ...{ id, kind: 'battery_low', state: 'raised', silenced: false, severity: 'warning', data: {} },
    ...{ receiver_id: receiverId, channel_id: channelId, raised_at: '2026-06-05T20:00:00.000Z', ...over },
  } as AlertBody
}

function found(...alerts: readonly AlertBody[]): number | null {
  return findChannelAlert(alerts, receiverId, channelId)?.id ?? null
}

describe('findChannelAlert', () => {
  it('finds the most urgent alert of the channel', () => {
    const ofOther = alert(4, { channel_id: 13, severity: 'critical' })
    expect(found()).toBeNull()
    expect(found(ofOther)).toBeNull()
    expect(found(alert(1, { severity: 'critical', state: 'acknowledged' }), alert(2), alert(3), ofOther)).toBe(3)
  })

  it('finds alerts of the receiver that concern the channel', () => {
    const ofReceiver = (kind: string, over: Partial<AlertBody> = {}) =>
      alert(5, { kind, channel_id: null, ...over } as Partial<AlertBody>)
    const lost = (channels: readonly number[]) =>
      ofReceiver('levels_lost', { data: { channels } } as unknown as Partial<AlertBody>)
    expect(found(ofReceiver('receiver_offline'))).toBe(5)
    expect(found(ofReceiver('receiver_offline', { receiver_id: 2 }))).toBeNull()
    expect(found(ofReceiver('receiver_offline', { receiver_id: null }))).toBeNull()
    expect(found(lost([11, channelId]))).toBe(5)
    expect(found(lost([11]))).toBeNull()
    expect(found(ofReceiver('temperature_high'))).toBeNull()
    expect(found(alert(1), ofReceiver('receiver_offline', { severity: 'critical' }))).toBe(5)
  })

  it('follows a new list', () => {
    const alerts = [alert(1)]
    expect(findChannelAlert(alerts, receiverId, channelId)?.id).toBe(1)
    expect(findChannelAlert([...alerts, alert(2)], receiverId, channelId)?.id).toBe(2)
  })
})
