/** Streams on a machine with two networks for audio. */

import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { createInstallation, until } from './support/app.ts'
import { createNamespaces } from './support/network/namespaces.ts'

const senders = fileURLToPath(new URL('support/network/two-streams.ts', import.meta.url))

interface Listed {
  readonly id: number
  readonly name: string
  readonly interface: string | null
  readonly status: {
    readonly levels: readonly number[] | null
    readonly error: string | null
    readonly restarts: number
  }
}

// Conformance: C-27.119.
it('receives a stream on the interface on which it is announced, although both networks use its group', async () => {
  const installation = await createInstallation({ audio: { interfaces: ['left', 'right'] } })
  const network = await createNamespaces(['left', 'right'], ['control'])
  network.startEquipment(senders)
  const service = await installation.serve([], {}, network.serviceLauncher)
  const read = async (path: string) =>
    (await network.request(`http://127.0.0.1:${service.port}/api/audio/${path}`)).json
  const list = async (): Promise<Listed[]> => await read('streams/')
  await until('both streams are listed', async () => (await list()).length === 2)
  const streams = (await list()).sort((a, b) => a.name.localeCompare(b.name))
  expect(streams).toMatchObject([
    { name: 'Left : 1', interface: '10.77.1.1' },
    { name: 'Right : 1', interface: '10.77.2.1' },
  ])
  expect((await read('search/')).interfaces).toEqual([
    { name: 'left', address: '10.77.1.1' },
    { name: 'right', address: '10.77.2.1' },
  ])
  for (const [index, level] of [-6.02, -26.02].entries()) {
    await until('no stream is joined', async () => (await list()).every(({ status }) => status.levels === null))
    const status = async () => (await read(`streams/${streams[index]?.id}/`)).status as Listed['status']
    await until(
      'its level is that of its network',
      async () => Math.abs(((await status()).levels?.[0] ?? 0) - level) < 1,
    )
    expect(await status()).toMatchObject({ error: null, restarts: 0 })
  }
}, 90_000)
