/** The page Sites in a browser. */

import { expect, it } from 'vitest'
import type { SiteBody } from '../../src/contract/sites.ts'
import { browserForTests, findViolations, phone, scrollsHorizontally } from '../support/browser/browser.ts'
import { receiver, startFakeService } from '../support/browser/fake-service.ts'
import { buildAlert } from '../support/builders.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'
import { startFollower, startOrigin } from '../support/sites.ts'

const { open } = browserForTests()

function site(name: string, fields: Partial<SiteBody> = {}): SiteBody {
  const code = name.toLowerCase().replaceAll(' ', '_')
  return {
    ...{ code, name, url: `https://${code}.example`, via: null, status: 'healthy', problems: 0, open_alerts: 0 },
    ...{ receivers: 12, channels: 48, shows: [], latency_ms: 24, last_seen: new Date().toISOString(), ...fields },
  }
}

async function startWithSites(sites: SiteBody[]) {
  const service = await startFakeService('')
  onTestEnd(() => service.close())
  service.data.sites = sites.map(({ code, name, url, shows }) => ({ code, name, url, shows }))
  service.data.responses['/api/sites/'] = sites
  return service
}

// Conformance: C-18.30.
it('lists the sites, the worst first, and filters them', async () => {
  const sites = [
    site('Arena'),
    site('Bar', { problems: 3, open_alerts: 2 }),
    site('Dome', { status: 'unhealthy', latency_ms: null }),
    site('Globe', { shows: ['Macbeth'] }),
    site('Studio', { code: 'globe/studio', via: 'globe', url: null }),
  ]
  const service = await startWithSites(sites)
  const page = await open(service, '/')
  const menu = page.getByRole('navigation', { name: 'Pages' })
  await menu.getByRole('button', { name: 'More' }).click()
  await menu.getByRole('link', { name: 'Sites' }).click()
  const names = () => page.locator('.site-link').allTextContents()
  await eventually(names).toEqual(['Dome', 'Bar', 'Arena', 'Globe', 'Studio'])
  const tile = (name: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('link', { name, exact: true }) })
  await tile('Dome')
    .getByText(/^Line lost/)
    .waitFor()
  const error = 'Connection refused by 10.0.0.9:443.'
  service.send({
    type: 'source',
    code: 'dome',
    address: 'https://dome.example',
    status: 'unhealthy',
    error,
    silent_since: null,
  })
  await tile('Dome').getByText(error).waitFor()
  await tile('Bar').getByText('3 need attention').waitFor()
  await tile('Bar').getByText('2 alerts').waitFor()
  await tile('Arena').getByText('12 receivers · 48 channels · 24 ms').waitFor()
  await tile('Globe').getByText('Macbeth').waitFor()
  await tile('Studio')
    .getByText(/via globe/)
    .waitFor()
  await expect(
    tile('Arena').getByRole('link', { name: 'Open the Micwatch of Arena' }).getAttribute('href'),
  ).resolves.toBe('https://arena.example')
  await expect(tile('Studio').getByRole('link', { name: /^Open/ }).count()).resolves.toBe(0)

  service.data.responses['/api/sites/'] = sites.map((each) => (each.name === 'Globe' ? { ...each, problems: 5 } : each))
  service.send({ type: 'site', code: 'globe', name: 'Globe', url: null, shows: [] })
  await eventually(names).toEqual(['Dome', 'Globe', 'Bar', 'Arena', 'Studio'])
  await page.getByLabel('State').selectOption({ label: 'Needs attention' })
  await eventually(names).toEqual(['Dome', 'Globe', 'Bar'])
  await page.getByLabel('Site or show').fill('macb')
  await eventually(names).toEqual(['Globe'])
  expect(new URL(page.url()).search).toBe('?state=problems&q=macb')
  await eventually(() => findViolations(page)).toEqual([])
})

it('fits 500 sites and a phone, and works by keyboard', async () => {
  const service = await startWithSites(Array.from({ length: 500 }, (_, index) => site(`Venue ${index + 1}`)))
  const page = await open(service, '/sites', phone)
  await eventually(() => page.locator('.site-tile').count()).toBe(500)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await page.getByRole('link', { name: 'Venue 1', exact: true }).focus()
  await page.keyboard.press('ArrowDown')
  await eventually(() => page.locator(':focus').textContent()).toBe('Venue 2')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${service.url}/wall?site=venue_2`)
  // The address changes before the wall is there. Its keys work once it has set the title.
  await eventually(() => page.title()).toBe('Wall · Micwatch')
  await page.keyboard.press('s')
  await page.waitForURL(`${service.url}/sites`)
})

it('opens the wall of a site with one click', async () => {
  const { origin } = await startOrigin()
  const follower = await startFollower(origin.url)
  const page = await open(follower, '/sites')
  await page.getByRole('link', { name: 'Royal Theatre', exact: true }).click()
  await page.waitForURL(`${follower.url}/wall?site=theatre`)
  await eventually(() => page.locator('.wall .card').count()).toBe(4)
  const [followed] = await follower.receivers()
  await page.goto(`${follower.url}/receivers/${followed?.id}`)
  await page.getByText('This receiver can only be changed at Royal Theatre.').waitFor()
  await eventually(() => page.getByRole('link', { name: 'Show in its rack' }).count()).toBe(0)
  await eventually(() => page.locator('.source-list .source-address').allTextContents()).toEqual([origin.url])
})

// Conformance: C-18.32.
it('links to the site in place of buttons that change its alerts and receivers', async () => {
  const arena = { code: 'arena', name: 'Arena' }
  const service = await startWithSites([site('Arena')])
  service.data.receivers = [{ ...receiver(1, [{}]), site: arena }, receiver(2, [{}])]
  service.data.alerts = [
    buildAlert({ id: 1, site: arena }),
    ...[2, 3].map((id) => buildAlert({ id, receiver_id: 2, channel_id: 5 })),
  ]
  const page = await open(service, '/alerts')
  const alert = page.locator('.alert').filter({ hasText: 'Arena' })
  await alert.getByText('Acknowledge it at Arena').waitFor()
  await eventually(() => alert.getByRole('button').allTextContents()).toEqual(['Silence…'])
  await eventually(() => alert.getByRole('link', { name: /^Open/ }).getAttribute('href')).toBe(
    'https://arena.example/alerts',
  )
  await page.getByRole('checkbox', { name: 'Select all' }).check()
  await page.getByRole('button', { name: 'Acknowledge (2)' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])

  await page.goto(`${service.url}/`)
  const card = page.locator('.card').first()
  await card.getByText('Acknowledge it at Arena').waitFor()
  await eventually(() => card.getByRole('button', { name: /^Acknowledge/ }).count()).toBe(0)
  await page.goto(`${service.url}/channels/1`)
  await page.locator('.detail-head').getByText('Arena').waitFor()
  await page.getByRole('region', { name: 'State' }).getByText('Acknowledge it at Arena').waitFor()
})

it('explains how to follow a site when there are none', async () => {
  const service = await startWithSites([])
  const page = await open(service, '/sites')
  await page.getByRole('heading', { name: 'No sites' }).waitFor()
  await page.getByRole('link', { name: 'Add a site' }).waitFor()
  const guide = page.getByRole('link', { name: 'User guide: several venues' })
  await expect(guide.getAttribute('href')).resolves.toBe('/help/sites.html')
  await expect(
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Sites' }).count(),
  ).resolves.toBe(0)
  await eventually(() => findViolations(page)).toEqual([])
})
