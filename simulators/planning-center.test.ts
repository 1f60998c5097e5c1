import { afterEach, describe, expect, it } from 'vitest'
import { type PlanningCenterOptions, type PlanningCenterSimulator, startPlanningCenter } from './planning-center.ts'
import { createChurch } from './planning-center-church.ts'

let simulator: PlanningCenterSimulator
let now = Date.parse('2026-09-02T12:00:00Z')

async function start(options: PlanningCenterOptions = {}) {
  now = Date.parse('2026-09-02T12:00:00Z')
  simulator = await startPlanningCenter({ now: () => now, church: createChurch(now), ...options })
}

async function get(path: string, credentials = simulator.token) {
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  const response = await fetch(`${simulator.url}/services/v2${path}`, { headers: { authorization } })
  // biome-ignore lint/suspicious/noExplicitAny: the tests read the body as the interface describes it
  const json = (await response.json()) as any
  return { status: response.status, headers: response.headers, json }
}

const idsOf = ({ json }: Awaited<ReturnType<typeof get>>) => json.data.map(({ id }: { id: string }) => id)

describe('the simulated Planning Center', () => {
  afterEach(() => simulator.close())

  it('returns pages of at most 100 records, with a link to the next one', async () => {
    await start()
    const members = '/service_types/1001/plans/4002/team_members?filter=not_declined&include=person,team'
    const first = await get(`${members}&per_page=3`)
    expect(first.json.meta).toMatchObject({ total_count: 8, count: 3, next: { offset: 3 } })
    const seen = [...idsOf(first)]
    let next = first.json.links.next as string | undefined
    while (next !== undefined) {
      const page = await get(next.slice(`${simulator.url}/services/v2`.length))
      seen.push(...idsOf(page))
      next = page.json.links.next
    }
    expect(seen).toEqual(idsOf(await get(`${members}&per_page=1000`)))
    expect(seen).toHaveLength(8)
    const [nora, ada] = first.json.data
    expect(nora.attributes).toMatchObject({ name: 'Nora Ekberg', status: 'C', team_position_name: 'Vox 1' })
    expect(ada.relationships.service_times.data).toEqual([{ type: 'PlanTime', id: '40029' }])
    expect(first.json.included.map(({ type, id }: Record<string, string>) => `${type} ${id}`)).toEqual([
      ...['Person 3001', 'Person 3002', 'Person 3007'],
      'Team 2001',
    ])
  })

  it('filters and orders plans', async () => {
    await start()
    const plans = async (query: string) => idsOf(await get(`/service_types/1001/plans?${query}`))
    expect(await plans('filter=future&order=sort_date')).toEqual(['4002', '4003'])
    expect(await plans('filter=past&order=-sort_date')).toEqual(['4001'])
    expect(await plans('order=-sort_date')).toEqual(['4003', '4002', '4001'])
    // Between the two services, and after both.
    now = Date.parse('2026-09-05T10:30:00Z')
    expect(await plans('filter=future&order=sort_date')).toEqual(['4002', '4003'])
    now = Date.parse('2026-09-05T12:00:00Z')
    expect(await plans('filter=future&order=sort_date')).toEqual(['4003'])
  })

  it.each([
    ['/service_types', 401, 'app:wrong'],
    ['/service_types/1004', 403, undefined],
    ['/service_types/9', 404, undefined],
    ['/service_types/1001/plans/9', 404, undefined],
    ['/service_types/1001/plans/4002/items', 404, undefined],
    ['/service_types?order=shoe_size', 400, undefined],
    ['/service_types/1001/plans/4002/team_members?include=shoes', 400, undefined],
  ])('responds to %s with the error %i', async (path, status, credentials) => {
    await start()
    const response = await get(path, credentials)
    expect([response.status, response.json.errors[0]]).toMatchObject([status, { status: String(status) }])
  })

  it('accepts a number of requests in each period', async () => {
    await start({ rateLimit: { requests: 2, seconds: 20 } })
    const countOf = ({ status, headers }: Awaited<ReturnType<typeof get>>) => [
      status,
      headers.get('x-pco-api-request-rate-count'),
      headers.get('retry-after'),
    ]
    expect(countOf(await get('/service_types'))).toEqual([200, '1', null])
    now += 5000
    expect(countOf(await get('/service_types'))).toEqual([200, '2', null])
    const limited = await get('/service_types')
    expect(countOf(limited)).toEqual([429, '3', '15'])
    expect(limited.headers.get('x-pco-api-request-rate-limit')).toBe('2')
    expect(limited.headers.get('x-pco-api-request-rate-period')).toBe('20 seconds')
    expect(limited.json.errors).toEqual([
      { code: '429', detail: 'Rate limit exceeded: 3 of 2 requests per 20 seconds' },
    ])
    now += 15_000
    expect(countOf(await get('/service_types'))).toEqual([200, '1', null])
  })

  it('counts no requests without a valid token, and accepts fewer that read far into a list', async () => {
    await start({ rateLimit: { requests: 4, seconds: 20 } })
    const statusOf = async (path: string, credentials?: string) => (await get(path, credentials)).status
    const far = '/service_types?offset=30001'
    const statuses = [await statusOf('/service_types', 'app:wrong')]
    for (const path of [far, far, far, far, '/service_types']) statuses.push(await statusOf(path))
    expect(statuses).toEqual([401, 200, 200, 200, 429, 429])
    now += 20_000
    expect([await statusOf('/service_types'), await statusOf('/service_types?offset=30000')]).toEqual([200, 200])
  })

  it('serves photos without credentials', async () => {
    await start()
    const { json } = await get('/service_types/1001/plans/4002/team_members?include=person')
    const addressOf = (name: string) =>
      json.data.find(({ attributes }: { attributes: { name: string } }) => attributes.name === name).attributes
        .photo_thumbnail as string
    const photo = await fetch(addressOf('Nora Ekberg'))
    expect([photo.status, photo.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(new URL(addressOf('Nora Ekberg')).origin).toBe(simulator.url)
    expect(addressOf('Cy Okafor')).toContain('/static/no_photo_thumbnail_gray.png')
  })
})
