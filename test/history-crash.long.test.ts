/** Kills the service while it records. */

import { expect, it } from 'vitest'
import { configFor, createInstallation, startShure, until } from './support/app.ts'
import { killWhileRecording } from './support/faults/recording-kills.ts'

// Conformance: C-12.25.
it('loses at most 10 s when it is killed, and nothing else', async () => {
  const simulator = await startShure()
  const installation = await createInstallation({ manufacturers: [configFor(simulator)] })
  const { lostSeconds, changed } = await killWhileRecording({
    cycles: 5,
    databaseUrl: installation.databaseUrl,
    start: () => installation.serve(),
    findChannel: (service) => until('a device is known', async () => (await service.receivers())[0]?.channels[0]?.id),
    wait: until,
    random: Math.random,
  })
  expect(Math.max(...lostSeconds)).toBeLessThan(10)
  expect(changed).toEqual([])
})
