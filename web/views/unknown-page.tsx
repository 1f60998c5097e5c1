import { useServices } from '../context.ts'
import { t } from '../i18n.ts'
import { Notice } from '../parts/notice.tsx'
import { TopBar } from '../parts/top-bar.tsx'

export function UnknownPage() {
  const { mount } = useServices()
  return (
    <>
      <TopBar current={null} />
      <main className="content">
        <h1 className="visually-hidden">{t('product')}</h1>
        <Notice title={t('unknownPage.title')}>
          <p>
            <a href={`${mount}/`}>{t('unknownPage.home')}</a>
          </p>
        </Notice>
      </main>
    </>
  )
}
