/** Instead of a page whose script did not come. */

import { useSurroundings } from '../context.ts'
import { Notice } from '../parts/notice.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { texts } from '../texts.ts'

export function BrokenPage() {
  const { retry } = useSurroundings()
  return (
    <>
      <TopBar current={null} />
      <main className="content">
        <h1 className="for-listeners">{texts.product}</h1>
        <Notice title={texts.brokenPage.title}>
          <p role="alert">{texts.brokenPage.why}</p>
          <button type="button" className="action" onClick={retry}>
            {texts.brokenPage.retry}
          </button>
        </Notice>
      </main>
    </>
  )
}
