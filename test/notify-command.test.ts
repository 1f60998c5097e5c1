/** `micwatch notify test` as an administrator uses it: with and without a running service. */

import { expect, it } from 'vitest'
import { createInstallation } from './support/app.ts'
import { channels, deliveries } from './support/notifications/notification-service.ts'
import { startWebhookReceiver } from './support/notifications/webhook-receiver.ts'
import { tokenHeaders } from './support/tokens.ts'

// Conformance: C-14.20.
it('sends test messages, prints the responses, and fails if one service rejects its message', async () => {
  const [crew, sound] = [await startWebhookReceiver(), await startWebhookReceiver([], 500)]
  const installation = await createInstallation()
  const notifyTest = (...args: string[]) => installation.run(['notify', 'test', ...args])
  const service = await installation.serve()
  expect(await notifyTest()).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/No notification channel is enabled/),
  })

  const headers = await tokenHeaders(installation, 'admin')
  const add = async (name: string, url: string, enabled = true) => {
    const channel = { name, type: 'webhook', config: { url }, enabled }
    expect((await service.post(channels, channel, headers)).status).toBe(201)
  }
  await add('RF crew', crew.url)
  await add('Head of sound', sound.url)
  await add('Spare', crew.url, false)

  const toCrew = await notifyTest('RF crew')
  expect(toCrew).toMatchObject({ code: 0, err: '' })
  expect(toCrew.out).toMatch(/ id +│ name +│ type +│ status │ time +│ result /)
  expect(toCrew.out).toMatch(/ 1 +│ RF crew │ webhook │ 204 +│ \d+ ms +│ sent /)
  expect(crew.received).toMatchObject([{ body: { type: 'test', data: { alerts: [], more: 0 } } }])

  const all = await notifyTest('--json')
  const sent = { ok: true, status: 204, response: null, error: null, duration_ms: expect.any(Number) }
  expect([all.code, all.json()]).toEqual([
    1,
    {
      ok: false,
      channels: [
        { id: 1, name: 'RF crew', type: 'webhook', ...sent },
        {
          ...{ id: 2, name: 'Head of sound', type: 'webhook', duration_ms: expect.any(Number) },
          ...{ ok: false, status: 500, response: 'responded 500', error: expect.stringContaining('500') },
        },
      ],
    },
  ])
  expect((await service.get(deliveries, headers)).json.map(({ type }: { type: string }) => type)).toEqual(
    Array(3).fill('test'),
  )

  service.kill('SIGTERM')
  await service.ended
  expect(await notifyTest('3')).toMatchObject({ code: 0, out: expect.stringContaining('Spare') })
  expect(crew.received).toHaveLength(3)
  const wrong = await notifyTest('RF Crew')
  expect(wrong).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(/no notification channel RF Crew. Configured: RF crew, Head of sound, Spare\./),
  })
  expect(wrong.err.trimEnd().split('\n')).toHaveLength(1)
})
