/** The installable app: its manifest and icons, as a browser reads them from a service below a path prefix. */

import { expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { browserForTests } from '../support/browser/browser.ts'

const { open } = browserForTests()

interface Manifest {
  readonly start_url: string
  readonly scope: string
  readonly display: string
  readonly icons: readonly {
    readonly src: string
    readonly sizes: string
    readonly type: string
    readonly purpose: string
  }[]
  readonly shortcuts: readonly { readonly url: string }[]
}

it('can be installed from a path prefix, before sign-in', async () => {
  const app = await startApp({ config: { server: { host: '0.0.0.0', mount: '/venue' } } })
  const page = await open(app, '/sign-in')
  const session = await page.context().newCDPSession(page)
  const { url, errors, data } = await session.send('Page.getAppManifest')
  expect(errors).toEqual([])
  expect(url).toBe(`${app.url}/app/manifest.webmanifest`)

  const manifest = JSON.parse(data ?? '') as Manifest
  expect(manifest.display).toBe('standalone')
  for (const link of [manifest.start_url, manifest.scope]) expect(new URL(link, url).href).toBe(`${app.url}/`)
  expect(manifest.shortcuts.map((shortcut) => new URL(shortcut.url, url).href)).toEqual([`${app.url}/wall`])

  expect(manifest.icons.map(({ sizes, purpose }) => `${sizes} ${purpose}`)).toEqual([
    '192x192 any',
    '512x512 any',
    '192x192 maskable',
    '512x512 maskable',
  ])
  // Loaded as an image, so that the content security policy applies.
  for (const { src, sizes, type } of manifest.icons) {
    const icon = new URL(src, url).href
    const response = await page.request.get(icon)
    expect(response.headers()['content-type']).toBe(type)
    const size = await page.evaluate<string>(
      `(async () => { const image = new Image(); image.src = ${JSON.stringify(icon)}; await image.decode(); ` +
        'return image.naturalWidth + "x" + image.naturalHeight })()',
    )
    expect({ src, size }).toEqual({ src, size: sizes })
  }
})

it('serves the manifest with its media type and lets browsers cache it for an hour', async () => {
  const app = await startApp({ config: { server: { host: '0.0.0.0', mount: '/venue' } } })
  const { status, headers } = await app.get('/app/manifest.webmanifest')
  expect([status, headers['content-type'], headers['cache-control'], headers['x-content-type-options']]).toEqual([
    200,
    'application/manifest+json',
    'public, max-age=3600',
    'nosniff',
  ])
  expect((await app.get('/app/none.png')).status).toBe(404)
})

it('gives the title bar the colour of the theme', async () => {
  const app = await startApp()
  const page = await open(app, '/about?theme=light')
  await page.getByRole('heading', { name: 'About Micwatch' }).waitFor()
  const [bar, meta] = await page.evaluate<[string, string | null]>(
    `[getComputedStyle(document.querySelector('.top-bar')).backgroundColor,
      document.querySelector('meta[name="theme-color"]').getAttribute('content')]`,
  )
  expect(meta).toBe('#f8f9fb')
  expect(bar).toBe('rgb(248, 249, 251)')
})
