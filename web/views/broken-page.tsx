/** Instead of a page whose script did not come. */

import { useSurroundings } from '../context.ts'
import { Notice } from '../parts/notice.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { words } from '../words.ts'

export function BrokenPage() {
  const { retry } = useSurroundings()
  return (
    <>
      <TopBar current={null} />
      <main className="content">
        <h1 className="for-listeners">{words.product}</h1>
        <Notice title={words.brokenPage.title}>
          <p role="alert">{words.brokenPage.why}</p>
          <button type="button" className="action" onClick={retry}>
            {words.brokenPage.retry}
          </button>
        </Notice>
      </main>
    </>
  )
}
