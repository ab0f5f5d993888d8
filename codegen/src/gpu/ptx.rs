//! Facts read from a PTX text without assembling it.

/// How many instructions a PTX text has, those that stand in one line as inline assembly included. Directives, such as declarations of
/// registers and data, are none. Takes one walk over the text.
///
/// ```
/// let body = "{\n\t.reg .b32 \t%r<3>;\n$L__BB0_1:\n\tadd.s32 \t%r1, %r2, 4; // one\n\t@%p1 bra \t$L__BB0_1;\n\tret;\n}\n";
/// assert_eq!(monoscan_codegen::gpu::ptx_instructions(body), 3);
/// ```
pub fn ptx_instructions(ptx: &str) -> usize {
    ptx.lines().map(of_line).sum()
}

fn of_line(line: &str) -> usize {
    let code = line.split_once("//").map_or(line, |(code, _)| code);
    let Some((statements, _)) = code.rsplit_once(';') else { return 0 };
    // A statement may stand behind the brace that opens its block.
    let statements = statements.split(';').map(|statement| statement.trim_start_matches(['{', ' ', '\t']));
    statements.filter(|statement| !statement.is_empty() && !statement.starts_with('.')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_in_one_line_have_their_instructions() {
        let wait = "\t{ .reg .pred done; mbarrier.try_wait.shared.b64 done, [%r1], %r2; selp.b32 %r3, 1, 0, done; }";
        assert_eq!(ptx_instructions(wait), 2);
    }

    #[test]
    fn directives_labels_and_comments_are_no_instructions() {
        let text = "//\n.version 8.4\n.target sm_90\n.global .align 16 .b8 moves[2] = {1, 2};\n.visible .entry scan(\n\
                    \t.param .align 16 .b8 scan_param_0[48]\n)\n.maxntid 288\n{\n\t.reg .pred \t%p<2>;\n$L__BB0_1:\n\
                    \t// begin inline asm\n}\n";
        assert_eq!(ptx_instructions(text), 0);
        let load = "\tld.shared.v4.b32 \t{%r1, %r2, %r3, %r4}, [%r5];\n";
        assert_eq!(ptx_instructions(&format!("{text}{load}{load}")), 2);
    }
}
