/** Shown when the script of a page could not be loaded. */

import { RotateCw, Unplug } from 'lucide-react'
import { t } from '../i18n.ts'
import { usePageTitle } from '../page-title.ts'
import { Notice } from '../parts/notice.tsx'

export function BrokenPage() {
  usePageTitle(t('brokenPage.title'))
  return (
    <main className="content" id="content" tabIndex={-1}>
      <h1 className="visually-hidden">{t('product')}</h1>
      <Notice title={t('brokenPage.title')} icon={Unplug}>
        <p role="alert">{t('brokenPage.why')}</p>
        <button type="button" className="action" onClick={() => location.reload()}>
          <RotateCw className="icon" aria-hidden="true" />
          {t('brokenPage.retry')}
        </button>
      </Notice>
    </main>
  )
}
