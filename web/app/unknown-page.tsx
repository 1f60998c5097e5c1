import { Link } from '@tanstack/react-router'
import { MapPinOff } from 'lucide-react'
import { pathOf } from '../../src/domain/pages.ts'
import { Notice } from '../parts/notice.tsx'
import { t } from './i18n.ts'
import { usePageTitle } from './page-title.ts'

export function UnknownPage() {
  usePageTitle(t('unknownPage.title'))
  return (
    <main className="content" id="content" tabIndex={-1}>
      <h1 className="visually-hidden">{t('product')}</h1>
      <Notice title={t('unknownPage.title')} icon={MapPinOff}>
        <p>{t('unknownPage.why')}</p>
        <code className="path">{location.pathname}</code>
        <Link className="action" to={pathOf('monitor')}>
          {t('unknownPage.home')}
        </Link>
      </Notice>
    </main>
  )
}
