/** Shown when the script of a page could not be loaded. */

import { useServices } from '../context.ts'
import { t } from '../i18n.ts'
import { Notice } from '../parts/notice.tsx'
import { TopBar } from '../parts/top-bar.tsx'

export function BrokenPage() {
  const { retry } = useServices()
  return (
    <>
      <TopBar current={null} />
      <main className="content">
        <h1 className="visually-hidden">{t('product')}</h1>
        <Notice title={t('brokenPage.title')}>
          <p role="alert">{t('brokenPage.why')}</p>
          <button type="button" className="action" onClick={retry}>
            {t('brokenPage.retry')}
          </button>
        </Notice>
      </main>
    </>
  )
}
