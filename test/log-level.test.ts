import { pino } from 'pino'
import { expect, it } from 'vitest'
import { now } from '../src/platform/clock.ts'
import { startApp } from './support/app.ts'
import { tokenHeaders } from './support/tokens.ts'

// Conformance: C-26.17.
it('PUT /api/admin/log-level/ changes the log level of the running service for some minutes', async () => {
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) })
  const app = await startApp({ log })
  const headers = await tokenHeaders(app, 'admin')
  const path = '/api/admin/log-level/'
  expect((await app.get(path, headers)).json).toEqual({ level: 'warn', until: null })
  const { status, json } = await app.put(path, { level: 'debug', minutes: 5 }, headers)
  expect(status).toBe(200)
  expect(json.level).toBe('debug')
  const minutes = (Date.parse(json.until) - now()) / 60_000
  expect(minutes).toBeGreaterThan(4)
  expect(minutes).toBeLessThanOrEqual(5)
  log.debug('visible')
  expect(lines.join()).toContain('visible')
  const audit = (await app.get('/api/admin/audit/', headers)).json
  expect(audit[0]).toMatchObject({
    action: 'log_level.change',
    details: { before: 'warn', level: 'debug', minutes: 5 },
  })
  app.service.logLevel.configure('error')
  expect((await app.get(path, headers)).json).toEqual({ level: 'error', until: null })
  expect((await app.put(path, { level: 'loud', minutes: 0 }, headers)).status).toBe(400)
  expect((await app.get(path, await tokenHeaders(app, 'operator'))).status).toBe(403)
})
