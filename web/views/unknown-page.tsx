import { useSurroundings } from '../context.ts'
import { Notice } from '../parts/notice.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { texts } from '../texts.ts'

export function UnknownPage() {
  const { mount } = useSurroundings()
  return (
    <>
      <TopBar current={null} />
      <main className="content">
        <h1 className="for-listeners">{texts.product}</h1>
        <Notice title={texts.unknownPage.title}>
          <p>
            <a href={`${mount}/`}>{texts.unknownPage.home}</a>
          </p>
        </Notice>
      </main>
    </>
  )
}
