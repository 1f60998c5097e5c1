import { describe, expect, it } from 'vitest'
import { alertKinds, alertKindTable } from '../../contract/alert-kinds.ts'
import { resolveAlertSettings } from './alert-settings.ts'

const unset = { global: {}, manufacturer: {}, groups: [] }

describe('resolveAlertSettings', () => {
  it('returns the defaults, without a severity, if no scope sets anything', () => {
    for (const kind of alertKinds) {
      const { isEnabled, delaySeconds } = alertKindTable[kind]
      expect(resolveAlertSettings(kind, unset)).toEqual({ isEnabled, delaySeconds, severity: null })
    }
  })

  it('prefers the groups, then the manufacturer, then the global value', () => {
    const global = { alert_stale_enabled: false, alert_stale_delay_seconds: 60, alert_stale_severity: 'info' } as const
    const manufacturer = { alert_stale_delay_seconds: 30 }
    const groups = [{ alert_stale_severity: 'warning' }, { alert_stale_severity: 'critical' }] as const
    const expected = { isEnabled: false, delaySeconds: 30, severity: 'critical' }
    expect(resolveAlertSettings('stale', { global, manufacturer, groups })).toEqual(expected)
  })
})
