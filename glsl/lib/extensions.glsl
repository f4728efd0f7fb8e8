#ifndef LIB_EXTENSIONS
#define LIB_EXTENSIONS

// Enabling an extension adds no capability to the SPIR-V: only the use of one of its types does, so the
// features that a kernel needs still follow from the dtypes it loads, stores and computes with.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#endif
