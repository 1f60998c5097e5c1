import { it } from 'vitest'
import { startApp, until } from '../support/app.ts'
import { browserForTests } from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { serveFile } from '../support/served-file.ts'

const browser = browserForTests()

// Conformance: C-26.24.
it('Administration names a newer version, and About links to it', async () => {
  const release = { version: '999.0.0', url: 'https://micwatch.example/releases/999.0.0' }
  const { url } = await serveFile(JSON.stringify(release))
  const app = await startApp({ config: { update_notice: { url } } })
  await until('health has it', async () => (await app.get('/api/health/')).json.update !== null)
  const page = await browser.openAs(app, 'admin', '/admin')
  await page.getByRole('link', { name: 'Micwatch 999.0.0 is available' }).click()
  const link = page.getByRole('link', { name: '999.0.0 is available', exact: true })
  await eventually(() => link.getAttribute('href')).toBe(release.url)
})
